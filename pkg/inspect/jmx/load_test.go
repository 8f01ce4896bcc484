package jmx

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// all is a Load of which everything is known.
var all = inspect.Load{
	HandlerIdle: inspect.Known(0.25), NetworkIdle: inspect.Known(0.5), RequestQueue: inspect.Known[int64](7),
	Flushes: inspect.Known[int64](12), FlushP99Ms: inspect.Known(30.5), FlushP999Ms: inspect.Known(1200.0),
}

// TestLoadPage: the names that exporters' rules give the meters of load, and what is none.
func TestLoadPage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want inspect.Load
	}{
		"no rules": {`kafka_server_KafkaRequestHandlerPool_OneMinuteRate{name="RequestHandlerAvgIdlePercent",} 0.25
kafka_server_KafkaRequestHandlerPool_OneMinuteRate{name="BrokerRequestHandlerAvgIdlePercent",} 0.9
kafka_server_KafkaRequestHandlerPool_MeanRate{name="RequestHandlerAvgIdlePercent",} 0.8
kafka_server_KafkaRequestHandlerPool_Count{name="RequestHandlerAvgIdlePercent",} 1.0E12
kafka_network_SocketServer_Value{name="NetworkProcessorAvgIdlePercent",} 0.5
kafka_network_RequestChannel_Value{name="RequestQueueSize",} 7.0
kafka_log_LogFlushStats_Count{name="LogFlushRateAndTimeMs",} 12.0
kafka_log_LogFlushStats_99thPercentile{name="LogFlushRateAndTimeMs",} 30.5
kafka_log_LogFlushStats_999thPercentile{name="LogFlushRateAndTimeMs",} 1200.0
kafka_log_LogFlushStats_98thPercentile{name="LogFlushRateAndTimeMs",} 1.0
`, all},
		"in lower case, by quantile": {`kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent_oneminuterate 0.25
kafka_network_socketserver_networkprocessoravgidle_percent 0.5
kafka_network_requestchannel_requestqueuesize 7
kafka_log_logflushstats_logflushrateandtimems_count 12
kafka_log_logflushstats_logflushrateandtimems{quantile="0.99"} 30.5
kafka_log_logflushstats_logflushrateandtimems{quantile="0.999"} 1200
kafka_log_logflushstats_logflushrateandtimems{quantile="0.50"} 1
`, all},
		"the mean since it began alone": {`kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent 0.8
kafka_network_socketserver_networkprocessoravgidle_percent NaN
kafka_network_requestchannel_requestqueuesize 7
`, inspect.Load{RequestQueue: inspect.Known[int64](7)}},
	} {
		got, err := ReadLoad(t.Context(), serve(t, page(tt.text))+"/metrics")
		if err != nil || got.Load != tt.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, tt.want)
		}
	}
	if _, err := ReadLoad(t.Context(), serve(t, page("kafka_IsrShrinksPerSec_Count 1\n"))+"/metrics"); err == nil || !strings.Contains(err.Error(), "none of Kafka's meters of request handlers") {
		t.Error(err)
	}
}

// TestLoadJolokia: what an agent forbids, or cannot tell as a number, costs that alone.
func TestLoadJolokia(t *testing.T) {
	t.Parallel()
	answer := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"status":200}`)
			return
		}
		var asked []jolokiaRead
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		answers := make([]jolokiaAnswer, len(asked))
		for i, a := range asked {
			answers[i].Status = http.StatusNotFound
			for part, value := range map[string]string{
				"RequestHandlerAvgIdlePercent": `{"OneMinuteRate":0.25,"MeanRate":0.8,"RateUnit":"NANOSECONDS"}`, "NetworkProcessorAvgIdlePercent": `{"Value":"NaN"}`,
				"LogFlushRateAndTimeMs": `{"Count":12,"99thPercentile":30.5,"999thPercentile":1200,"Max":2000}`,
			} {
				if strings.Contains(a.MBean, part) {
					answers[i] = jolokiaAnswer{Status: http.StatusOK, Value: json.RawMessage(value)}
				}
			}
			if strings.Contains(a.MBean, "RequestQueueSize") {
				answers[i] = jolokiaAnswer{Status: http.StatusForbidden, Error: "forbidden"}
			}
		}
		_ = json.NewEncoder(w).Encode(answers)
	}
	want := all
	want.NetworkIdle, want.RequestQueue = inspect.Unknown[float64](), inspect.Unknown[int64]()
	got, err := ReadLoad(t.Context(), serve(t, answer)+"/jolokia/")
	if err != nil || got.Load != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// checkRealLoad: an agent in a real broker tells all of it, in the ranges it has.
func checkRealLoad(t *testing.T, id inspect.BrokerID, l inspect.Load) {
	t.Helper()
	for name, share := range map[string]inspect.Opt[float64]{"HandlerIdle": l.HandlerIdle, "NetworkIdle": l.NetworkIdle} {
		if v, ok := share.Get(); !ok || v < 0 || v > 1 {
			t.Errorf("broker %d: %s is %v", id, name, share)
		}
	}
	if !l.RequestQueue.IsKnown() || !l.Flushes.IsKnown() || !l.FlushP99Ms.IsKnown() || l.FlushP999Ms.Or(-1) < l.FlushP99Ms.Or(0) {
		t.Errorf("broker %d: %+v", id, l)
	}
}
