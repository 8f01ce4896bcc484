package embedded_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/embedded/embeddedtest"
)

// TestAutoCreate: asking about a topic makes it where request and broker allow it, with
// the cluster's defaults.
func TestAutoCreate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config  map[string]string
		version int16
		allowed bool
		want    int // partitions; 0: no topic
	}{
		"allowed":                   {map[string]string{"num.partitions": "4"}, 12, true, 4},
		"an old version, always":    {nil, 3, false, 1},
		"not by the request":        {nil, 12, false, 0},
		"not by the broker":         {map[string]string{"auto.create.topics.enable": "false"}, 12, true, 0},
		"not by the broker, and v0": {map[string]string{"auto.create.topics.enable": "false"}, 0, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := embeddedtest.New(t, embedded.Options{Config: tt.config})
			ask := func(version int16, allow bool) kmsg.MetadataResponseTopic {
				req := kmsg.NewPtrMetadataRequest()
				req.Version, req.AllowAutoTopicCreation = version, allow
				req.Topics = []kmsg.MetadataRequestTopic{{Topic: kmsg.StringPtr("asked.for")}}
				resp, err := exchange(c.Broker(1).Address(), req)
				if err != nil {
					t.Fatal(err)
				}
				return resp.(*kmsg.MetadataResponse).Topics[0]
			}
			if got := ask(tt.version, tt.allowed); got.ErrorCode != 3 {
				t.Fatalf("first: error %d, want UNKNOWN_TOPIC_OR_PARTITION", got.ErrorCode)
			}
			var got kmsg.MetadataResponseTopic
			end := time.Now().Add(hang)
			if tt.want == 0 {
				end = time.Now().Add(300 * time.Millisecond) // what is to come would be there by now
			}
			for time.Now().Before(end) {
				if got = ask(12, false); got.ErrorCode == 0 {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if len(got.Partitions) != tt.want {
				t.Errorf("%d partitions, error %d; want %d", len(got.Partitions), got.ErrorCode, tt.want)
			}
		})
	}
}
