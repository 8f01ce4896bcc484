package tui

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
)

func groupsScreen() *screen {
	return &screen{
		name: "groups", key: "5", aliases: []string{"g", "consumers"}, what: "consumers' lag, in records and in time",
		head: groupsHead, rows: groupRows, groups: true,
		enter: func(s *state, _ *place, row int) *place {
			p := newPlace(&screen{name: "group", text: groupText, groups: true, crumb: func(p *place) string { return render.Clean(p.group) }})
			p.group = s.look().Groups[row].Name
			return p
		},
	}
}

func groupsHead(s *state, _ *place, _ int) []string {
	l := s.look()
	if l.GroupsAt.IsZero() {
		return []string{"  " + render.Paint(s.color, render.Dim, "groups have not been asked for yet")}
	}
	if late := l.Snap.TakenAt.Sub(l.GroupsAt); late > 0 {
		return []string{"  " + render.Paint(s.color, render.Dim, "as of "+render.Millis(late.Milliseconds())+" before this look")}
	}
	return nil
}

func groupRows(s *state, _ *place) *listing {
	g := s.look().Groups
	return &listing{
		n:  len(g),
		id: func(i int) string { return g[i].Name },
		table: func(v render.View, which []int) *render.Table {
			seen := make([]render.GroupRow, len(which))
			for n, i := range which {
				seen[n] = g[i]
			}
			return render.GroupsTable(v, seen)
		},
		item: func(i int) any { return render.GroupItems(g[i : i+1])[0] },
		sorts: []sorting{
			{"L", "lag", func(i, j int) int { return -cmp.Compare(g[i].LagKnown.Or(-1), g[j].LagKnown.Or(-1)) }},
			{"N", "name", func(i, j int) int { return strings.Compare(g[i].Name, g[j].Name) }},
			{"S", "state", func(i, j int) int { return strings.Compare(g[i].State.Or(""), g[j].State.Or("")) }},
		},
	}
}

func groupText(s *state, p *place, width int) []string {
	l := s.look()
	for i := range l.Groups {
		if l.Groups[i].Name == p.group {
			var b strings.Builder
			if err := render.GroupPartitions(&b, view(s, width-2), l.Snap, l.Groups[i:i+1]); err != nil {
				return []string{"  " + err.Error()}
			}
			return append(groupsHead(s, p, width), lines(b.String())...)
		}
	}
	return []string{fmt.Sprintf("  group %s is not there any more", render.Clean(p.group))}
}
