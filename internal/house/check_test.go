package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/kafkaops/kafkaops"

// source is what the checks look at: one package's files that are no tests.
type source struct {
	dir   string
	fset  *token.FileSet
	files []*ast.File
}

// checkRoom returns what is wrong with one package.
func checkRoom(src source) []string {
	i := slices.IndexFunc(rooms, func(r room) bool { return r.dir == src.dir })
	if i < 0 {
		return []string{fmt.Sprintf("%s: a package that is not listed: if the design has room for it, add it to rooms in "+
			"internal/house/rooms_test.go with what it may import", src.dir)}
	}
	r := rooms[i]
	found := append(checkName(src), checkComment(src)...)
	for _, f := range src.files {
		for _, spec := range f.Imports {
			if wrong := checkImport(r, importPath(spec)); wrong != "" {
				found = append(found, fmt.Sprintf("%s: %s", src.fset.Position(spec.Pos()), wrong))
			}
		}
		if r.pure {
			found = append(found, checkPurity(src.fset, f)...)
		}
	}
	return found
}

// checkImport returns why the room may not import the path, or "".
func checkImport(r room, imported string) string {
	if dir, ours := strings.CutPrefix(imported, module+"/"); ours {
		if !slices.ContainsFunc(r.ours, func(allowed string) bool { return covers(allowed, dir) }) {
			return fmt.Sprintf("%s may not import %s; imports point one way, see rooms in internal/house/rooms_test.go", r.dir, dir)
		}
		return ""
	}
	if lib, ok := libraryOf(imported); ok && !slices.Contains(lib.rooms, r.dir) {
		return fmt.Sprintf("%s may not import %s (%s): only %s may", r.dir, imported, lib.what, strings.Join(lib.rooms, ", "))
	}
	if r.pure && slices.ContainsFunc(pureForbidden, func(p string) bool { return below(p, imported) }) {
		return fmt.Sprintf("%s is pure and may not import %s", r.dir, imported)
	}
	return ""
}

func covers(allowed, dir string) bool {
	if tree, ok := strings.CutSuffix(allowed, "/..."); ok {
		return below(tree, dir)
	}
	return allowed == dir
}

// below reports whether the path is parent or lies under it.
func below(parent, p string) bool {
	return p == parent || strings.HasPrefix(p, strings.TrimSuffix(parent, "/")+"/")
}

func libraryOf(imported string) (library, bool) {
	var best library
	longest := ""
	for _, lib := range libraries {
		for _, prefix := range lib.prefixes {
			if below(prefix, imported) && len(prefix) > len(longest) {
				best, longest = lib, prefix
			}
		}
	}
	return best, longest != ""
}

// checkPurity looks for what a pure room may not do even with imports that it
// may have: read the clock, draw from a global source, start or feed goroutines.
func checkPurity(fset *token.FileSet, f *ast.File) []string {
	names := importNames(f)
	var found []string
	report := func(n ast.Node, what string) {
		found = append(found, fmt.Sprintf("%s: %s in a pure package", fset.Position(n.Pos()), what))
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			if ok && forbiddenName(names[id.Name], n.Sel.Name) {
				report(n, id.Name+"."+n.Sel.Name)
			}
		case *ast.GoStmt:
			report(n, "a goroutine")
		case *ast.ChanType, *ast.SelectStmt, *ast.SendStmt:
			report(n, "a channel")
		}
		return true
	})
	return found
}

// forbiddenName reports whether a pure room may not use the name of a package.
func forbiddenName(imported, name string) bool {
	if allowed, ok := pureAllowedNames[imported]; ok {
		return !slices.Contains(allowed, name)
	}
	return slices.Contains(pureForbiddenNames[imported], name)
}

// importNames maps the names under which the file knows its imports to their
// paths.
func importNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range f.Imports {
		imported := importPath(spec)
		name := path.Base(imported)
		if imported == "math/rand/v2" {
			name = "rand"
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imported
	}
	return names
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic(err) // the parser has accepted it
	}
	return p
}

func checkName(src source) []string {
	name := src.files[0].Name.Name
	if !slices.Contains(catchAllNames, name) {
		return nil
	}
	return []string{fmt.Sprintf("%s: package %s: name a package for what it holds", src.dir, name)}
}

// checkComment wants exactly one package comment, so that it is clear which is
// read.
func checkComment(src source) []string {
	var docs []string
	for _, f := range src.files {
		if f.Doc != nil && strings.TrimSpace(f.Doc.Text()) != "" {
			docs = append(docs, f.Doc.Text())
		}
	}
	name := src.files[0].Name.Name
	switch {
	case len(docs) == 0:
		return []string{fmt.Sprintf("%s: no package comment: say its purpose, its door and what it does not do", src.dir)}
	case len(docs) > 1:
		return []string{fmt.Sprintf("%s: %d package comments: keep one, in doc.go if it is long", src.dir, len(docs))}
	case name != "main" && !strings.HasPrefix(docs[0], "Package "+name+" "):
		return []string{fmt.Sprintf("%s: its comment has to begin with %q", src.dir, "Package "+name)}
	}
	return nil
}
