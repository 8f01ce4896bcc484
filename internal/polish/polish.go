// Package polish takes a matrix of figures apart by rows and columns (Tukey's median
// polish): each figure is what is common to all, and what its row, its column and itself
// alone add to it. Medians are not moved by a few that are far off, so that one slow row
// does not make all columns look slow.
//
// Its door is [Polish]. It knows nothing of what the figures are.
package polish

import (
	"cmp"
	"slices"
)

// Cell is a figure at its place. There may be places without one.
type Cell struct {
	Row, Column int32
	Value       float64
}

// Polished is a matrix taken apart: Value = Overall + row's share + column's share + residue.
type Polished struct {
	Overall       float64
	Rows, Columns []Share   // by id
	Residues      []float64 // in the order of the cells
}

// Share is what a row or a column adds.
type Share struct {
	ID    int32
	Value float64
}

// rounds is how often rows and columns are swept: the figures hardly move after the
// third time.
const rounds = 10

// Polish takes the cells apart.
func Polish(cells []Cell) Polished {
	p := Polished{Residues: make([]float64, len(cells))}
	rows, columns := map[int32][]int{}, map[int32][]int{}
	for i, c := range cells {
		p.Residues[i] = c.Value
		rows[c.Row] = append(rows[c.Row], i)
		columns[c.Column] = append(columns[c.Column], i)
	}
	p.Rows, p.Columns = shares(rows), shares(columns)
	for range rounds {
		p.sweep(p.Rows, rows)
		p.Overall += center(p.Rows)
		p.sweep(p.Columns, columns)
		p.Overall += center(p.Columns)
	}
	return p
}

func shares(of map[int32][]int) []Share {
	var out []Share
	for id := range of {
		out = append(out, Share{ID: id})
	}
	slices.SortFunc(out, func(a, b Share) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// sweep moves the median of each row, or column, out of the residues.
func (p *Polished) sweep(to []Share, of map[int32][]int) {
	for i := range to {
		var residues []float64
		for _, c := range of[to[i].ID] {
			residues = append(residues, p.Residues[c])
		}
		m := Median(residues)
		to[i].Value += m
		for _, c := range of[to[i].ID] {
			p.Residues[c] -= m
		}
	}
}

// center takes the median out of the shares.
func center(s []Share) float64 {
	var values []float64
	for _, share := range s {
		values = append(values, share.Value)
	}
	m := Median(values)
	for i := range s {
		s[i].Value -= m
	}
	return m
}

// Median is 0 of nothing, and the lower one of two.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Clone(x)
	slices.Sort(x)
	return x[(len(x)-1)/2]
}
