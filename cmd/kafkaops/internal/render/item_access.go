package render

import (
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/access"
)

// KindAccess is check access: AccessItem, in the order of the README.
const KindAccess Kind = "Access"

// AccessItem is what the credentials may do with one command.
type AccessItem struct {
	// Command is its words without the program's name, such as "describe topics".
	Command string `json:"command"`
	// Status is works, partly (a part is refused, or some topics or groups are),
	// refused (what the command is for is, or nothing of it may be seen), unknown
	// (nobody answered who could tell) or unavailable (the cluster cannot do it).
	Status access.Status `json:"status"`
	// Authorizer is the cluster's, the same in every item: false where it has none,
	// and whoever can connect may do everything; null where that was not told.
	Authorizer inspect.Opt[bool] `json:"authorizer"`
	Parts      []AccessPartItem  `json:"parts"`
}

// AccessPartItem is a part of a command's answer.
type AccessPartItem struct {
	Part   string        `json:"part"`
	Status access.Status `json:"status"`
	// Optional: without it the command still answers what it is for.
	Optional bool `json:"optional"`
	// Beside: it is optional, and the command's status is without it.
	Beside bool `json:"beside"`
	// Guarded: what it needs allows more than to look, and to lack it is no fault.
	Guarded bool `json:"guarded"`
	// Flag is the flag that asks for the part; null for one that is always there.
	Flag inspect.Opt[string] `json:"flag"`
	// Requests are Kafka's names of the APIs that are sent for it.
	Requests []string         `json:"requests"`
	Needs    []AccessNeedItem `json:"needs"`
	// Lost is what is unknown without the needs that are missing.
	Lost []string `json:"lost"`
}

// AccessNeedItem is an ACL that a part needs.
type AccessNeedItem struct {
	// Operation and ResourceType are Kafka's words: DESCRIBE, TOPIC.
	Operation    inspect.Operation    `json:"operation"`
	ResourceType inspect.ResourceType `json:"resourceType"`
	// Status is works where it is granted on all that was looked at, partly on some,
	// refused on none, or unknown.
	Status access.Status `json:"status"`
	// Seen counts the names that are seen and on which it is granted, of transactional
	// ids those with an open transaction; null for the cluster. Without are those on
	// which it is known to be missing. Absent are those that were asked about, on
	// which it is granted, and of which nothing is seen.
	Seen    inspect.Opt[int] `json:"seen"`
	Without []string         `json:"without"`
	Absent  []string         `json:"absent"`
	// All: these are all names that there are; false where others may be hidden, of
	// which Kafka does not tell; null for the cluster.
	All inspect.Opt[bool] `json:"all"`
	// Add are calls of kafka-acls.sh that grant it, joined by &&; null where it is not
	// missing, or Advice says what to do instead.
	Add inspect.Opt[string] `json:"add"`
	// Caution is what it allows beside, where that is more than to look.
	Caution inspect.Opt[string] `json:"caution"`
	// Advice is what to do where Add cannot help, or it is unknown for want of
	// anything to try it on.
	Advice inspect.Opt[string] `json:"advice"`
}

// Credentials are who asks, for calls of Kafka's own tools.
type Credentials struct {
	// Bootstrap is host:port.
	Bootstrap string
	// Principal is such as User:alice; empty where it is not certain.
	Principal string
	// Secured: the brokers want more of a client than to know their address.
	Secured bool
}

// placeholder stands for a principal that is not certain.
const placeholder = "User:…"

func (c *Credentials) principal() string {
	if c.Principal == "" {
		return placeholder
	}
	return c.Principal
}

// AccessItems are the items of check access.
func AccessItems(r *access.Report, who Credentials) []AccessItem {
	items := make([]AccessItem, 0, len(r.Commands))
	for i := range r.Commands {
		c := &r.Commands[i]
		item := AccessItem{Command: c.Command, Status: c.Status, Authorizer: r.Authorizer, Parts: []AccessPartItem{}}
		for j := range c.Parts {
			item.Parts = append(item.Parts, accessPart(r, &c.Parts[j], who))
		}
		items = append(items, item)
	}
	return items
}

func accessPart(r *access.Report, p *access.PartReport, who Credentials) AccessPartItem {
	item := AccessPartItem{
		Part: p.Name, Status: p.Status, Optional: p.Optional, Beside: p.Beside, Guarded: p.Guarded, Requests: []string{}, Needs: []AccessNeedItem{}, Lost: list(p.Lost),
	}
	if p.Flag != "" {
		item.Flag = inspect.Known(p.Flag)
	}
	for _, id := range p.Requests {
		item.Requests = append(item.Requests, access.RequestOf(id).API)
	}
	for _, n := range p.Needs {
		need := AccessNeedItem{Operation: n.Operation, ResourceType: n.Resource, Status: n.Status, Without: []string{}, Absent: []string{}}
		g := r.Grant(n.ACL)
		if n.Resource != inspect.ResourceCluster {
			need.Seen, need.All = inspect.Known(g.Seen), inspect.Known(g.All)
			need.Without, need.Absent = list(withoutOf(g)), list(g.Absent)
		}
		if n.Status == access.Partly || n.Status == access.Refused {
			if add := accessCommands([]access.Grant{*g}, who); len(add) > 0 {
				need.Add = inspect.Known(strings.Join(add, " && "))
			}
		}
		need.Caution, need.Advice = orNull(access.Caution(n.ACL)), orNull(g.Advice())
		item.Needs = append(item.Needs, need)
	}
	return item
}

func orNull(text string) inspect.Opt[string] {
	if text == "" {
		return inspect.Unknown[string]()
	}
	return inspect.Known(text)
}

// withoutOf are the names, and prefixes as they are asked for, that lack a grant.
func withoutOf(g *access.Grant) []string {
	without := slices.Clone(g.Without)
	for _, prefix := range g.Closed {
		without = append(without, prefix+"*")
	}
	return without
}
