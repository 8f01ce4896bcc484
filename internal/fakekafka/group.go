package fakekafka

// The types of groups, as ListGroups has them.
const (
	ClassicGroup  = "classic"
	ConsumerGroup = "consumer" // KIP-848
	ShareGroup    = "share"
	StreamsGroup  = "streams"
)

// Group is a group with its members and the offsets that it has committed.
type Group struct {
	Name string
	// Type is one of the constants above; empty is classic.
	Type string
	// ProtocolType is what members of a classic group have in common: "consumer"
	// unless set; "connect" for Connect's workers, a space for a group that nobody
	// has ever joined, for which Kafka tells an empty one.
	ProtocolType string
	// State is Kafka's word; empty is Stable with members and Empty without.
	State string
	// Coordinator is a broker's id; 0 is the leader of the group's partition of
	// __consumer_offsets or, without that topic, one that its name picks.
	Coordinator int32
	Members     []*Member
	// Commits are offsets by topic and partition; −1 is an answer without one.
	Commits map[string]map[int32]int64

	// DenyDescribe hides the group: no listing has it, and asked by name it
	// answers GROUP_AUTHORIZATION_FAILED.
	DenyDescribe bool
}

// Member is a member of a group.
type Member struct {
	ID string
	// InstanceID is group.instance.id of a static member.
	InstanceID string
	ClientID   string
	Host       string
	// Assigned are partitions by topic.
	Assigned map[string][]int32
}

// AddGroup adds an empty group of that type.
func (m *Model) AddGroup(name, groupType string) *Group {
	g := &Group{Name: name, Type: groupType}
	m.Groups = append(m.Groups, g)
	return g
}

// Group returns the group of that name, nil if there is none.
func (m *Model) Group(name string) *Group {
	for _, g := range m.Groups {
		if g.Name == name {
			return g
		}
	}
	return nil
}

// Commit puts a committed offset.
func (g *Group) Commit(topic string, partition int32, offset int64) {
	if g.Commits == nil {
		g.Commits = map[string]map[int32]int64{}
	}
	if g.Commits[topic] == nil {
		g.Commits[topic] = map[int32]int64{}
	}
	g.Commits[topic][partition] = offset
}

// Join adds a member with its partitions of one topic; none is a member without
// work.
func (g *Group) Join(id, topic string, partitions ...int32) *Member {
	member := &Member{ID: id, ClientID: "client-" + id, Host: "/127.0.0.1", Assigned: map[string][]int32{}}
	if len(partitions) > 0 {
		member.Assigned[topic] = partitions
	}
	g.Members = append(g.Members, member)
	return member
}

func (g *Group) groupType() string {
	if g.Type == "" {
		return ClassicGroup
	}
	return g.Type
}

func (g *Group) protocolType() string {
	switch {
	case g.ProtocolType == " ":
		return ""
	case g.ProtocolType != "":
		return g.ProtocolType
	case g.Type == ShareGroup, g.Type == StreamsGroup:
		return g.Type
	}
	return "consumer"
}

func (g *Group) state() string {
	switch {
	case g.State != "":
		return g.State
	case len(g.Members) > 0:
		return "Stable"
	}
	return "Empty"
}

// offsetsTopic is where groups live: the leader of a group's partition of it is
// the group's coordinator.
const offsetsTopic = "__consumer_offsets"

// coordinatorOf is the id of the broker that coordinates the group, NoLeader where
// its partition of the offsets topic has none.
func (v *view) coordinatorOf(g *Group) int32 {
	if g.Coordinator != 0 {
		return g.Coordinator
	}
	if t := v.index.topics[offsetsTopic]; t != nil && len(t.Partitions) > 0 {
		return v.leader(t.Partitions[javaHash(g.Name)%len(t.Partitions)])
	}
	if len(v.index.live) == 0 {
		return NoLeader
	}
	return v.index.live[javaHash(g.Name)%len(v.index.live)].ID
}

// group finds a group for an API that names it, with the error that Kafka answers
// where this broker or this client is not to be told of it. A group that does not
// exist is nil without an error.
func (v *view) group(key Key, name string) (*Group, int16) {
	g := v.index.groups[name]
	switch {
	case v.denied(key), g != nil && g.DenyDescribe:
		return nil, groupAuthorizationFailed
	case name == "":
		return nil, invalidGroupID
	case g != nil && v.coordinatorOf(g) != v.self.ID:
		return nil, notCoordinator
	}
	return g, none
}

// optional is nil for an empty string.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
