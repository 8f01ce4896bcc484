package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeniedError says that the credentials may not do what was asked.
type DeniedError struct {
	// Needs is the ACL that is missing, as "ALTER_CONFIGS on topic orders".
	Needs string
	err   error
}

func (e *DeniedError) Error() string { return "refused: it needs " + e.Needs }

// Unwrap is Kafka's own error.
func (e *DeniedError) Unwrap() error { return e.err }

// denied names what is missing, where that is why.
func denied(code int16, message *string, needs string) error {
	switch code {
	case kerr.TopicAuthorizationFailed.Code, kerr.ClusterAuthorizationFailed.Code:
		return &DeniedError{needs, kerr.ErrorForCode(code)}
	}
	return refusal(code, message)
}

// stepped are settings of which a running broker takes half to double of what it has
// (DynamicThreadPool.validateReconfiguration). As a default of all brokers anything is
// stored; what a broker does not take is then not in force.
var stepped = map[string]bool{
	"num.replica.fetchers": true, "num.io.threads": true, "num.network.threads": true,
	"num.recovery.threads.per.data.dir": true, "background.threads": true,
}

// PlanConfigs looks how things are, and makes a plan of what of the changes is not so
// yet, those of one scope in their order. Nothing is changed.
func (c *Client) PlanConfigs(ctx context.Context, changes []Change) (*Plan, error) {
	meta := kmsg.NewPtrMetadataRequest()
	meta.Topics = []kmsg.MetadataRequestTopic{} // none
	who, err := meta.RequestWith(ctx, c.kgo)
	if err != nil {
		return nil, fmt.Errorf("ask for the brokers: %w", unanswered(err))
	}
	p := &Plan{}
	if who.ClusterID != nil {
		p.ClusterID = inspect.Known(*who.ClusterID)
	}
	var brokers []int32
	for _, b := range who.Brokers {
		brokers = append(brokers, b.NodeID)
	}
	slices.Sort(brokers)
	for _, ch := range changes {
		s := Step{Change: ch}
		if err := c.fill(ctx, &s, brokers); errors.Is(err, kerr.UnknownTopicOrPartition) {
			p.Left = append(p.Left, fmt.Sprintf("%s: there is none (any more)", s.Scope))
			continue
		} else if err != nil {
			return nil, err
		}
		if s.From == s.To {
			p.Skipped = append(p.Skipped, fmt.Sprintf("%s: %s is %s already", s.Scope, s.Setting, s.To.Or("not set")))
			continue
		}
		p.Steps = append(p.Steps, s)
	}
	return p, nil
}

// fill learns what is so now.
func (c *Client) fill(ctx context.Context, s *Step, brokers []int32) error {
	if s.Note != "" {
		s.Notes = append(s.Notes, s.Note)
	}
	at, err := c.setting(ctx, nil, s.Scope, s.Setting)
	if err != nil {
		return err
	}
	s.From = at.set
	if s.Scope.Kind != ScopeCluster {
		s.InForce = at.inForce
		if s.Scope.Kind == ScopeBroker {
			return s.mayStep(s.Scope.Name, at)
		}
		return nil
	}
	for i, id := range brokers {
		one := Scope{ScopeBroker, strconv.Itoa(int(id))}
		at, err := c.setting(ctx, nil, one, s.Setting)
		if err != nil {
			return err
		}
		switch {
		case i == 0:
			s.InForce = at.inForce
		case s.InForce != at.inForce:
			s.InForce = inspect.Unknown[string]()
		}
		if own, ok := at.set.Get(); ok {
			s.Notes = append(s.Notes, fmt.Sprintf("broker %d has a value of its own, %s, which stays in force there", id, own))
			continue
		}
		if err := s.mayStep(one.Name, at); err != nil {
			return err
		}
	}
	return nil
}

// mayStep refuses what a broker would not take.
func (s *Step) mayStep(broker string, at told) error {
	if !stepped[s.Setting] {
		return nil
	}
	to := s.To
	if !to.IsKnown() {
		to = at.below(s.Scope.source())
	}
	n, err := strconv.Atoi(to.Or(""))
	has, err2 := strconv.Atoi(at.inForce.Or(""))
	if err != nil || err2 != nil || has <= 0 {
		return nil //nolint:nilerr // the broker says what it is
	}
	if n > 2*has || 2*n < has {
		return fmt.Errorf("%s: %s %s: broker %s has %d, and takes %d to %d in one step: go there by several", s.Scope, s.Setting, to.Or(""), broker, has, (has+1)/2, 2*has)
	}
	return nil
}

// told is a setting as a broker tells it.
type told struct {
	// set is what is set at the scope that was asked about, inForce what goes there.
	set, inForce inspect.Opt[string]
	synonyms     []kmsg.DescribeConfigsResponseResourceConfigConfigSynonym
}

// below is what is in force once the value of a source is taken away.
func (t *told) below(source kmsg.ConfigSource) inspect.Opt[string] {
	for i := range t.synonyms {
		if s := &t.synonyms[i]; s.Source != source {
			return text(s.Value)
		}
	}
	return inspect.Unknown[string]()
}

func text(v *string) inspect.Opt[string] {
	if v == nil {
		return inspect.Unknown[string]()
	}
	return inspect.Known(*v)
}

// setting asks for one, at a broker, or at whoever answers where that is nil.
func (c *Client) setting(ctx context.Context, broker *int32, s Scope, name string) (t told, err error) {
	what := fmt.Sprintf("%s: %s", s, name)
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName = s.resource()
	r.ConfigNames = []string{name}
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.Resources, req.IncludeSynonyms = append(req.Resources, r), true
	if s.Kind == ScopeBroker {
		id, err := s.brokerID()
		if err != nil {
			return t, err
		}
		broker = &id // no other tells
	}
	var answer kmsg.Response
	if broker != nil {
		answer, err = c.kgo.Broker(int(*broker)).RetriableRequest(ctx, req)
	} else {
		answer, err = c.kgo.Request(ctx, req)
	}
	if err != nil {
		return t, fmt.Errorf("%s: %w", what, unanswered(err))
	}
	resp := answer.(*kmsg.DescribeConfigsResponse)
	if len(resp.Resources) != 1 {
		return t, fmt.Errorf("%s: the broker told of %d resources, not of one", what, len(resp.Resources))
	}
	got := &resp.Resources[0]
	if err := denied(got.ErrorCode, got.ErrorMessage, s.needs(string(inspect.OpDescribeConfigs))); err != nil {
		return t, fmt.Errorf("%s: %w", what, err)
	}
	for i := range got.Configs {
		k := &got.Configs[i]
		if k.Name != name {
			continue
		}
		t.inForce, t.synonyms = text(k.Value), k.ConfigSynonyms
		if k.Source == s.source() {
			t.set = text(k.Value)
		}
		for j := range k.ConfigSynonyms {
			if syn := &k.ConfigSynonyms[j]; syn.Source == s.source() && syn.Name == name {
				t.set = text(syn.Value)
			}
		}
	}
	return t, nil
}
