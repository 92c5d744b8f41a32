// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// lazyMap is the map of an object of which most expressions read few fields. It converts a field when an expression reads it, and the whole
// object only for operations that need it, such as size() or a comprehension.
type lazyMap struct {
	// field returns the value of a field, which may be an error; false if the field is absent.
	field func(name string) (ref.Val, bool)
	whole func() ref.Val
}

var _ traits.Mapper = (*lazyMap)(nil)

// lazyObject is a ManagedCluster that is converted field by field, each once in an evaluation, and the meter that the conversions charge.
type lazyObject struct {
	info   *clusterinfo.ClusterInfo
	meter  *meter
	object func() (map[string]any, error)
	fields map[string]lazyField
}

type lazyField struct {
	value ref.Val
	found bool
}

// lazyCluster returns the map of a ManagedCluster.
func lazyCluster(info *clusterinfo.ClusterInfo, m *meter) *lazyMap {
	of := &lazyObject{info: info, meter: m}
	of.object = sync.OnceValues(func() (map[string]any, error) {
		object, err := info.Object()
		m.chargeObject(object)
		return object, err
	})
	return &lazyMap{
		field: func(name string) (ref.Val, bool) {
			if !clusterinfo.IsPart(name) {
				return nil, false
			}
			return of.part(name), true
		},
		whole: func() ref.Val { return mapOf(of.object()) },
	}
}

// part returns the map of the metadata, spec or status.
func (o *lazyObject) part(part string) *lazyMap {
	return &lazyMap{
		field: func(name string) (ref.Val, bool) {
			if part == "metadata" && name == "labels" && len(o.info.Labels) > 0 { // Most expressions are about labels, which are a map as they are.
				return types.NewStringStringMap(types.DefaultTypeAdapter, o.info.Labels), true
			}
			return o.field(part, name)
		},
		whole: func() ref.Val {
			whole, err := o.object()
			if err != nil {
				return types.WrapErr(err)
			}
			return types.DefaultTypeAdapter.NativeToValue(whole[part])
		},
	}
}

// field returns a field of the metadata, spec or status; false if it is absent.
func (o *lazyObject) field(part, name string) (ref.Val, bool) {
	path := part + "." + name
	if known, ok := o.fields[path]; ok {
		return known.value, known.found
	}
	value, found, err := o.info.PartField(part, name)
	if err != nil {
		return types.WrapErr(err), true
	}
	o.meter.chargeObject(value)

	if o.fields == nil {
		o.fields = map[string]lazyField{}
	}
	o.fields[path] = lazyField{value: types.DefaultTypeAdapter.NativeToValue(value), found: found}
	return o.fields[path].value, found
}

// chargeObject charges the conversion of a part of an object, whose size the API server limits.
func (m *meter) chargeObject(value any) {
	const conversion = 8
	m.charge(conversion)
	switch v := value.(type) {
	case map[string]any:
		for _, entry := range v {
			m.chargeObject(entry)
		}
	case []any:
		for _, element := range v {
			m.chargeObject(element)
		}
	case string:
		m.scan(uint64(len(v)))
	}
}

func mapOf(fields map[string]any, err error) ref.Val {
	if err != nil {
		return types.WrapErr(fmt.Errorf("reading the cluster: %w", err))
	}
	return types.NewStringInterfaceMap(types.DefaultTypeAdapter, fields)
}

// Find returns the value of a field; false if the field is absent.
func (l *lazyMap) Find(key ref.Val) (ref.Val, bool) {
	if name, ok := key.(types.String); ok {
		return l.field(string(name))
	}
	return nil, false
}

// Get returns the value of a field, or an error if the field is absent.
func (l *lazyMap) Get(key ref.Val) ref.Val {
	if value, found := l.Find(key); found {
		return value
	}
	if whole, ok := l.whole().(traits.Indexer); ok {
		return whole.Get(key)
	}
	return l.whole()
}

// Contains reports whether a field is present.
func (l *lazyMap) Contains(key ref.Val) ref.Val {
	if _, found := l.Find(key); found {
		return types.True
	}
	if whole, ok := l.whole().(traits.Container); ok {
		return whole.Contains(key)
	}
	return l.whole()
}

// Iterator returns an iterator over the names of the fields.
func (l *lazyMap) Iterator() traits.Iterator {
	if whole, ok := l.whole().(traits.Iterable); ok {
		return whole.Iterator()
	}
	return types.NewStringInterfaceMap(types.DefaultTypeAdapter, nil).Iterator()
}

// Size returns the number of fields.
func (l *lazyMap) Size() ref.Val {
	if whole, ok := l.whole().(traits.Sizer); ok {
		return whole.Size()
	}
	return l.whole()
}

// Equal compares the whole object.
func (l *lazyMap) Equal(other ref.Val) ref.Val {
	if same, ok := other.(*lazyMap); ok {
		other = same.whole()
	}
	return l.whole().Equal(other)
}

// ConvertToNative converts the whole object.
func (l *lazyMap) ConvertToNative(to reflect.Type) (any, error) {
	return l.whole().ConvertToNative(to) //nolint:wrapcheck // The error of the whole object is returned as it is.
}

// ConvertToType converts the whole object.
func (l *lazyMap) ConvertToType(to ref.Type) ref.Val {
	if to == types.TypeType {
		return types.MapType
	}
	return l.whole().ConvertToType(to)
}

// Type returns the type of a map.
func (l *lazyMap) Type() ref.Type { return types.MapType }

// Value returns the whole object.
func (l *lazyMap) Value() any { return l.whole().Value() }
