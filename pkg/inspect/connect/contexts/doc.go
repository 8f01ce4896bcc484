// Package contexts reads kafkaops' own configuration file, in which clusters have
// names:
//
//	current-context: staging
//	contexts:
//	  staging:
//	    bootstrap-server: kafka-1.staging:9092,kafka-2.staging:9092
//	  prod:
//	    bootstrap-server: [kafka-1.prod:9094, kafka-2.prod:9094]
//	    command-config: prod.properties
//	    controller: controller-1.prod:9093
//	    controller-config: prod-controllers.properties
//	    jmx: http://kafka-1.prod:7777
//	    cluster-id: 64bNKcnqSLylJY2lNVGf3g
//	    readonly: true
//
// Fields are named after the flags that they stand in for. A field of a context
// that is not known is an error, with its line and the nearest name that is: an
// expected cluster id that is misspelt would otherwise guard nothing. At the top,
// fields that are not known belong to somebody else, unless they look like a
// misspelling. Paths are relative to the file's directory. There is no field for a
// secret: those are in the files that a context names.
//
// The door is [Path], [Read] and [File.Get]; [File.Use] changes the current
// context and nothing else of the file, comments and layout included.
package contexts
