package connect

import "testing"

func TestAWSRegion(t *testing.T) {
	t.Setenv("AWS_REGION", "from-environment")
	for addr, want := range map[string]string{
		"b-1.demo.abc123.c2.kafka.us-east-1.amazonaws.com:9098":              "us-east-1",
		"b-1-public.demo.abc123.c2.kafka.eu-central-1.amazonaws.com:9198":    "eu-central-1",
		"boot-abc.c3.kafka-serverless.ap-south-1.amazonaws.com:9098":         "ap-south-1",
		"b-1.demo.abc123.c2.kafka.cn-north-1.amazonaws.com.cn:9098":          "cn-north-1",
		"b-1.demo.abc123.c2.kafka.us-gov-west-1.amazonaws.com:9098":          "us-gov-west-1",
		"kafka.example.com:9098":                                             "from-environment",
		"b-1.demo.abc123.c2.kafka.us-east-1.amazonaws.com.evil.example:9098": "from-environment",
	} {
		if got, err := awsRegion(addr); got != want || err != nil {
			t.Errorf("awsRegion(%q) = %q, %v; want %q", addr, got, err, want)
		}
	}
}
