// Package javaprops reads a Java client.properties, and the JAAS configuration
// in it, as Java and Kafka read them: the file that --command-config gives to
// Kafka's own tools is used unchanged, and means the same.
//
// The door is [Parse], which gives a [File]; [File.JAAS] gives the [Login] of a
// setting such as sasl.jaas.config. [ParseJAAS] reads such a value alone.
//
//	f, err := javaprops.Parse("client.properties", data)
//	protocol, err := f.OneOfFold("security.protocol", "PLAINTEXT", protocols...)
//	login, err := f.JAAS("sasl.jaas.config")
//	password, ok := login.Option("password") // a Secret: printing it shows nothing
//
// It knows no settings, opens no files and resolves no ${...}: a caller looks
// for config.providers itself.
//
// # Properties
//
// The rules are those of java.util.Properties.load(InputStream), which is what
// Kafka's Utils.loadProps calls: bytes are ISO-8859-1, and whatever else is
// written \uXXXX. The reader is our own because magiconair/properties reads
// other files than Java does: it ends a value at a backslash where lines end
// with CR LF, keeps the line end inside a key that goes on in the next line,
// refuses an empty key and a backslash at the end of the file, loses characters
// beyond U+FFFF, and knows no line numbers.
//
// # JAAS
//
// The rules are those of org.apache.kafka.common.security.JaasConfig, which
// reads with a java.io.StreamTokenizer, and of JaasContext, which wants exactly
// one login module and refuses two.
//
// # Where it is stricter than Java
//
// Only where Java goes on with something that nobody meant. These are errors:
//
//   - half a surrogate pair: \uD83D without \uDE00 is no character
//   - a file beyond [MaxFileBytes]
//   - an unquoted option value with a character right behind it that ends it
//     and is neither a blank nor a semicolon: Kafka would log in with the part
//     before it
//   - a quoted string that the end of a line ends, for the same reason
//   - an option without a name, such as the second = in a==b
//   - a number in other digits than 0 to 9
//
// # Secrets
//
// Values are passwords and keys, and a file with a lost backslash has them in
// the wrong place: inside the value of a timeout, or where a key should be. So
// no error, warning or type of this package ever prints a value, and keys and
// option names only where they look like such.
package javaprops
