// SPDX-License-Identifier: Apache-2.0

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

	switch kind := of.Kind(); {
	case encodes(of):
		k.leaf(path, of.Name(), note)
	case kind == reflect.Slice:
		k.walk(path+"[]", of.Elem(), note, under)
	case kind == reflect.Map:
		k.walk(path+"{}", of.Elem(), note, under)
	case kind == reflect.Struct && under[of]:
		k.leaf(path, "as above", note)
	case kind == reflect.Struct:
		under[of] = true
		k.fields(path, of, under)
		delete(under, of)
	case kind == reflect.Interface:
		k.leaf(path, "any", note)
	default:
		k.leaf(path, kind.String(), note)
	}
}

// encodes reports whether a type writes its JSON itself, as metav1.Time does.
func encodes(of reflect.Type) bool {
	pointer := reflect.PointerTo(of) // It has the methods of the type too.
	return pointer.Implements(marshaler) || pointer.Implements(textMarshaler)
}

func (k *Keys) leaf(path, kind, note string) { k.Lines = append(k.Lines, path+" "+kind+note) }

func (k *Keys) fields(path string, of reflect.Type, under map[reflect.Type]bool) {
	for field := range of.Fields() {
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
