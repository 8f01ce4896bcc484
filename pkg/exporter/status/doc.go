// Package status draws the exporter's page for people who have no Grafana: the verdict
// with its reasons, the partitions that are unhealthy with since when and why, how ISRs
// changed, and the brokers with their disks.
//
// [New] judges a look, [Memory] adds what no single look tells, and [Write] is the page. It
// works without scripts: a filter is a form, and the page can be loaded again. With them it
// stays current by itself: the script asks for the part that changes (a fragment) every two
// seconds, and puts it in the place of the old one where it differs.
//
// The package is pure: it opens nothing, and knows no clock.
package status
