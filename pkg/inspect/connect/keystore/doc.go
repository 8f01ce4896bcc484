// Package keystore turns what Kafka's ssl.keystore.* and ssl.truststore.*
// settings point to into Go's TLS material, as a Java client reads them. Start
// at [Spec], which mirrors the settings, and [Load]:
//
//	m, err := keystore.Load(keystore.Spec{
//		KeyStoreLocation:   "/etc/kafka/client.p12",
//		KeyStorePassword:   keystore.NewSecret(password),
//		TrustStoreLocation: "/etc/kafka/trust.jks",
//	})
//
// A command that runs for long takes a [Reloader] instead and dials with its
// [Reloader.ClientConfig]: files that are replaced beneath it are read again, and
// a file that is broken does not take away what was loaded before.
//
// # What is read
//
//	type    a key store                                 a trust store
//	JKS     every private key with its chain            trusted certificates, and the
//	PKCS12  likewise                                    first one of each private key
//	PEM     one private key, one chain, in one file     every certificate, in a file
//	        or in the settings                          or in the setting
//
// JKS is Kafka's default type. Java reads PKCS12 files under the type JKS and
// the other way round, and so does this package; PEM has to be declared.
//
// # Where it is wider than Java, and where narrower
//
// DESIGN.md lists every difference and its reason.
//
// Nothing here prints a password or a private key: they hide from every printer,
// and no error quotes what was read.
package keystore
