package surface

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
)

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// Keys collects the keys that Go types have in JSON.
type Keys struct {
	// Lines are "title: path type", with [] for the elements of a list and {} for the values of a map.
	Lines []string
	// Reached are the struct types that were found, as path.Name.
	Reached map[string]bool
}

// Add collects the keys of a type under a title, such as the command that prints it.
func (k *Keys) Add(title string, of reflect.Type) {
	if k.Reached == nil {
		k.Reached = map[string]bool{}
	}

	k.walk(title+": ", of, "", map[reflect.Type]bool{})
}

func (k *Keys) walk(path string, of reflect.Type, note string, under map[reflect.Type]bool) {
	if of.Kind() == reflect.Pointer {
		k.walk(path, of.Elem(), note, under)

		return
	}

	if of.Name() != "" && of.Kind() == reflect.Struct {
		k.Reached[of.PkgPath()+"."+of.Name()] = true
	}

	itself := of.Implements(marshaler) || reflect.PointerTo(of).Implements(marshaler) ||
		of.Implements(textMarshaler) || reflect.PointerTo(of).Implements(textMarshaler)

	switch {
	case itself:
		k.leaf(path, of.Name(), note)
	case of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Uint8:
		k.leaf(path, "bytes", note)
	case of.Kind() == reflect.Slice || of.Kind() == reflect.Array:
		k.walk(path+"[]", of.Elem(), note, under)
	case of.Kind() == reflect.Map:
		k.walk(path+"{}", of.Elem(), note, under)
	case of.Kind() == reflect.Struct && under[of]:
		k.leaf(path, "as above", note)
	case of.Kind() == reflect.Struct:
		under[of] = true
		k.fields(path, of, under)
		delete(under, of)
	case of.Kind() == reflect.Interface:
		k.leaf(path, "any", note)
	default:
		k.leaf(path, of.Kind().String(), note)
	}
}

func (k *Keys) leaf(path, kind, note string) { k.Lines = append(k.Lines, path+" "+kind+note) }

func (k *Keys) fields(path string, of reflect.Type, under map[reflect.Type]bool) {
	for i := range of.NumField() {
		field := of.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")

		if !field.IsExported() && !field.Anonymous || name == "-" {
			continue
		}

		if field.Anonymous && name == "" {
			k.walk(path, field.Type, "", under)

			continue
		}

		if name == "" {
			name = field.Name
		}

		note := ""
		if strings.Contains(options, "omit") {
			note = ", optional"
		}

		dot := "."
		if strings.HasSuffix(path, ": ") {
			dot = ""
		}

		k.walk(path+dot+name, field.Type, note, under)
	}
}
