package kraft

// noTag marks a field that has its fixed place.
const noTag = -1

// field is one line of a layout.
type field struct {
	name  string // as Kafka's schema spells it
	since int16  // the first version that has it
	tag   int    // or noTag
	value value
}

// value is where a field lives in its struct, and how its type is written.
type value interface {
	write(w *writer)
	read(r *reader)
	// isDefault reports whether a tagged field may be left out, and whether a
	// version without the field loses nothing.
	isDefault() bool
	// reset sets the default, which is what a field that was left out means.
	reset()
}

// plain is a field of all versions.
func plain(name string, v value) field { return since(0, name, v) }

// since is a field of that version and all later ones.
func since(version int16, name string, v value) field {
	return field{name: name, since: version, tag: noTag, value: v}
}

// tagged is a tagged field of that version and all later ones.
func tagged(tag int, version int16, name string, v value) field {
	return field{name: name, since: version, tag: tag, value: v}
}
