package access_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/access"
)

// TestREADME: the tables in the section Permissions are these, row by row.
func TestREADME(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Permissions\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if !found {
		t.Fatal("README.md has no section Permissions")
	}
	var got []string
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "| ") {
			got = append(got, strings.TrimSuffix(line, "\n"))
		}
	}
	want := append(commandRows(), aclRows()...)
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("README.md - and the tables +:\n%s\nas they should be:\n%s", diff, strings.Join(want, "\n"))
	}
}

// plural is an ACL as the README has it: on all that there are.
func plural(acl inspect.ACL) string {
	if acl.Resource == inspect.ResourceCluster {
		return acl.String()
	}
	return fmt.Sprintf("%s on %ss", acl.Operation, acl.Resource.Noun())
}

func commandRows() []string {
	rows := []string{"| command | needs | and in full |"}
	for _, c := range access.Commands() {
		var needs []string
		forParts := map[string][]string{}
		for _, p := range c.Parts {
			for _, id := range p.Requests {
				for _, n := range access.RequestOf(id).Needs {
					acl := plural(n.ACL)
					if !p.Optional && !slices.Contains(needs, acl) {
						needs = append(needs, acl)
					}
					if p.Optional && !slices.Contains(forParts[acl], p.Name) {
						forParts[acl] = append(forParts[acl], p.Name)
					}
				}
			}
		}
		var more []string
		for _, acl := range access.ACLs() {
			if parts := forParts[plural(acl)]; len(parts) > 0 && !slices.Contains(needs, plural(acl)) {
				more = append(more, plural(acl)+" ("+strings.Join(parts, ", ")+")")
			}
		}
		rows = append(rows, "| `"+c.Path+"` | "+orNothing(needs)+" | "+orNothing(more)+" |")
	}
	return rows
}

func aclRows() []string {
	rows := []string{"| ACL | for the requests | without it is unknown or not shown |"}
	for _, acl := range access.ACLs() {
		var requests, lost []string
		for _, r := range access.Requests() {
			for _, n := range r.Needs {
				if n.ACL != acl || r.ID == access.DescribeACLs { // which only tells whether there is an authorizer
					continue
				}
				requests = append(requests, string(r.ID))
				if !slices.Contains(lost, r.Lost) {
					lost = append(lost, r.Lost)
				}
			}
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s |", plural(acl), strings.Join(requests, ", "), strings.Join(lost, "; ")))
	}
	return rows
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "–"
	}
	return strings.Join(list, "; ")
}
