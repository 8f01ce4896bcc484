package jmx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// appInfo is an MBean of each node, with its id in the name.
const appInfo = "kafka.server:type=app-info,id=*"

type jolokiaRead struct {
	Type  string `json:"type"`
	MBean string `json:"mbean"`
}

type jolokiaAnswer struct {
	Status int             `json:"status"`
	Error  string          `json:"error"`
	Value  json.RawMessage `json:"value"`
}

// readJolokia asks for all meters at once.
func (a *agent) readJolokia(ctx context.Context, m *Meters) error {
	asked := make([]jolokiaRead, 0, len(meters)+1+len(loadMBeans))
	for i := range meters {
		asked = append(asked, jolokiaRead{"read", meters[i].mbean})
	}
	asked = append(asked, jolokiaRead{"read", appInfo})
	for i := range loadMBeans {
		asked = append(asked, jolokiaRead{"read", loadMBeans[i]})
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	in, err := a.ask(ctx, http.MethodPost, body)
	if err != nil {
		return err
	}
	defer in.Close()
	text, err := io.ReadAll(&limited{in: in, left: maxJolokia})
	if err != nil {
		return err
	}
	var answers []jolokiaAnswer
	if err := json.Unmarshal(text, &answers); err != nil || len(answers) != len(asked) {
		return errors.New("answers with JSON that is not Jolokia's")
	}
	for i := range meters {
		switch answers[i].Status {
		case http.StatusOK:
			var v struct{ Count *int64 }
			if err := json.Unmarshal(answers[i].Value, &v); err != nil || v.Count == nil {
				return fmt.Errorf("%s has no Count", meters[i].mbean)
			}
			*meters[i].of(m) = inspect.Known(*v.Count)
		case http.StatusNotFound: // a node that has no such role
		default:
			return fmt.Errorf("refuses %s: status %d %s", meters[i].mbean, answers[i].Status, answers[i].Error)
		}
	}
	var infos map[string]json.RawMessage
	if info := answers[len(meters)]; info.Status == http.StatusOK && json.Unmarshal(info.Value, &infos) == nil && len(infos) == 1 {
		for name := range infos {
			m.Broker = idOf(name)
		}
	}
	for i, mbean := range loadMBeans {
		// One that is missing or forbidden is left out: it costs this figure alone.
		var attributes map[string]any
		if answer := answers[len(meters)+1+i]; answer.Status != http.StatusOK || json.Unmarshal(answer.Value, &attributes) != nil {
			continue
		}
		for name, value := range attributes {
			if v, ok := value.(float64); ok { // no number is told as text
				takeLoad(&m.Load, mbean+"_"+name, v)
			}
		}
	}
	return nil
}

// idOf finds the id in an MBean's name.
func idOf(name string) inspect.Opt[inspect.BrokerID] {
	_, keys, _ := strings.Cut(name, ":")
	for key := range strings.SplitSeq(keys, ",") {
		if text, ok := strings.CutPrefix(key, "id="); ok {
			return nodeID(text)
		}
	}
	return inspect.Unknown[inspect.BrokerID]()
}

func nodeID(text string) inspect.Opt[inspect.BrokerID] {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return inspect.Unknown[inspect.BrokerID]()
	}
	return inspect.Known(inspect.BrokerID(n))
}
