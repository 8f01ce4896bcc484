package access

import (
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Status is one word about a command or a part of it.
type Status string

// The words.
const (
	Works Status = "works"
	// Partly: some of it is refused or hidden, and the rest is of use.
	Partly Status = "partly"
	// Refused: what the command is for is refused, or nothing that it shows may be
	// seen.
	Refused Status = "refused"
	// Unknown: nobody answered who could tell.
	Unknown Status = "unknown"
	// Unavailable: this cluster cannot do it, whoever asks.
	Unavailable Status = "unavailable"
)

// Asks are the parts of a Snapshot that Judge needs: every request that a command
// sends, once.
const Asks = inspect.PartELR | inspect.PartReachable | inspect.PartFenced | inspect.PartOffsets | inspect.PartQuorum |
	inspect.PartReplicaLogs | inspect.PartConfigs | inspect.PartGroups | inspect.PartTransactions | inspect.PartAccess

// Report is what the credentials may do.
type Report struct {
	// Authorizer is false where the cluster has none.
	Authorizer inspect.Opt[bool]
	// Commands are in the order of the table.
	Commands []CommandReport
	// Grants are in the order of the table, one for each ACL in it.
	Grants []Grant
}

// CommandReport is about one command.
type CommandReport struct {
	Command string
	Status  Status
	Parts   []PartReport
}

// PartReport is about one part of a command.
type PartReport struct {
	Part
	Status Status
	// Needs are the ACLs that its requests need, each once.
	Needs []NeedReport
	// Lost is what is unknown without those that are missing, each once.
	Lost []string
}

// NeedReport is about an ACL in a part.
type NeedReport struct {
	inspect.ACL
	Status Status
}

// Missing are the ACLs that the part lacks, on some names or on all.
func (p *PartReport) Missing() []inspect.ACL {
	var out []inspect.ACL
	for _, n := range p.Needs {
		if n.Status == Partly || n.Status == Refused {
			out = append(out, n.ACL)
		}
	}
	return out
}

// Grant is what is known of one ACL.
type Grant struct {
	inspect.ACL
	// Status is Works where it is granted on all that was looked at, Partly on some,
	// Refused on none.
	Status Status
	// Seen counts the names that it is granted on; Without are those that it is known
	// to be missing on, sorted. Neither says anything of the cluster.
	Seen    int
	Without []string
	// Denied are those of Without that a rule grants and another denies: to grant
	// them once more changes nothing.
	Denied []string
	// Absent are names that were asked about, on which it is granted, and of which
	// nothing is seen, sorted.
	Absent []string
	// Closed are prefixes that were asked about: it is not granted on them as a
	// whole, and nothing that begins with them is seen.
	Closed []string
	// Asked is what was asked about; Unasked: other resources were named, and of
	// these none.
	Asked   inspect.Scope
	Unasked bool
	// All: these are all names that there are. False: others may be hidden, and Kafka
	// does not tell how many.
	All bool
	// ByRule: it is granted on names that nothing has, so by a rule for all that were
	// asked about. Only names that another rule denies, or with
	// allow.everyone.if.no.acl.found those that others have rules for, are then
	// without it, and those may be hidden.
	ByRule bool
	// Undecided: it is Unknown though Kafka answered, for nothing is seen to try it
	// on.
	Undecided bool
}

// Advice is what to do where an [Addition] does not help, or there can be none;
// else empty.
func (g *Grant) Advice() string {
	if g.Resource == inspect.ResourceCluster {
		return ""
	}
	name := "name one: " + flagOf(g.Resource)
	switch {
	case g.Undecided && len(g.Asked.Globs) > 0:
		return "cannot tell, nothing that is seen matches " + strings.Join(g.Asked.Globs, ", ") + "; " + name
	case g.Undecided:
		return "cannot tell, there is none that these credentials see; " + name
	case len(g.Denied) > 0:
		return "granted, and a DENY rule takes it away on " + strings.Join(g.Denied, ", ") + ": find it by kafka-acls.sh --list"
	case (g.Status == Partly || g.Status == Refused) && len(Additions([]Grant{*g})) == 0:
		return "to be told what grants it, " + name
	}
	return ""
}

// OK reports whether every command that the cluster can serve works, be it without
// what is beside its answer, or takes an ACL that allows more than to look.
func (r *Report) OK() bool {
	return !slices.ContainsFunc(r.Commands, func(c CommandReport) bool {
		s := statusOf(slices.DeleteFunc(slices.Clone(c.Parts), func(p PartReport) bool { return p.Guarded }))
		return s != Works && s != Unavailable
	})
}

// Grant is what is known of one of the table's ACLs.
func (r *Report) Grant(acl inspect.ACL) *Grant {
	for i := range r.Grants {
		if r.Grants[i].ACL == acl {
			return &r.Grants[i]
		}
	}
	return &Grant{ACL: acl, Status: Unknown}
}

// Missing are the Grants that commands need and lack.
func (r *Report) Missing() []Grant {
	var out []Grant
	for _, g := range r.Grants {
		lacked := slices.ContainsFunc(r.Commands, func(c CommandReport) bool {
			return slices.ContainsFunc(c.Parts, func(p PartReport) bool { return slices.Contains(p.Missing(), g.ACL) })
		})
		if lacked {
			out = append(out, g)
		}
	}
	return out
}

// Judge says which commands work, by a Snapshot that was asked for Asks.
func Judge(s *inspect.Snapshot) Report {
	e := newEvidence(s)
	r := Report{Authorizer: e.access.Authorizer, Grants: e.grants}
	for _, c := range Commands() {
		r.Commands = append(r.Commands, e.command(c))
	}
	return r
}

func (e *evidence) command(c Command) CommandReport {
	out := CommandReport{Command: c.Path}
	for _, p := range c.Parts {
		out.Parts = append(out.Parts, e.part(p))
	}
	out.Status = statusOf(out.Parts)
	return out
}

// statusOf is what a command is by its parts.
func statusOf(parts []PartReport) Status {
	out := Works
	worsen := func(s Status) {
		if severity(s) > severity(out) {
			out = s
		}
	}
	for i := range parts {
		switch p := &parts[i]; {
		case p.Beside, p.Status == Unavailable && p.Optional:
		case p.Status == Refused && (p.Optional || p.Guarded): // there is another way than what is guarded
			worsen(Partly)
		default:
			worsen(p.Status)
		}
	}
	return out
}

// severity orders what a command is by its parts: what is certainly missing comes
// before what is not known.
func severity(s Status) int {
	return slices.Index([]Status{Works, Unknown, Partly, Unavailable, Refused}, s)
}

func (e *evidence) part(p Part) PartReport {
	out := PartReport{Part: p, Status: Works}
	for _, id := range p.Requests {
		if e.unavailable(id) {
			out.Status = Unavailable
			continue
		}
		r := RequestOf(id)
		for _, n := range r.Needs {
			s := e.state(&r, n)
			out.need(n.ACL, s)
			if severity(s) > severity(out.Status) {
				out.Status = s
			}
			if (s == Partly || s == Refused) && !slices.Contains(out.Lost, r.Lost) {
				out.Lost = append(out.Lost, r.Lost)
			}
		}
	}
	return out
}

func (p *PartReport) need(acl inspect.ACL, s Status) {
	for i := range p.Needs {
		if n := &p.Needs[i]; n.ACL == acl {
			if severity(s) > severity(n.Status) {
				n.Status = s
			}
			return
		}
	}
	p.Needs = append(p.Needs, NeedReport{acl, s})
}
