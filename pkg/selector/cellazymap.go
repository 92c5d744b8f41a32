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

// lazyCluster returns the map of a ManagedCluster.
func lazyCluster(f *clusterinfo.ClusterInfo) *lazyMap {
	object := sync.OnceValues(f.Object)

	return &lazyMap{
		field: func(name string) (ref.Val, bool) {
			if !clusterinfo.IsPart(name) {
				return nil, false
			}

			return lazyPart(f, name, object), true
		},
		whole: func() ref.Val { return mapOf(object()) },
	}
}

// lazyPart returns the map of the metadata, spec or status of a ManagedCluster.
func lazyPart(f *clusterinfo.ClusterInfo, part string, object func() (map[string]any, error)) *lazyMap {
	return &lazyMap{
		field: func(name string) (ref.Val, bool) {
			if part == "metadata" && name == "labels" && len(f.Labels) > 0 { // Most expressions are about labels, which are a map as they are.
				return types.NewStringStringMap(types.DefaultTypeAdapter, f.Labels), true
			}

			value, found, err := f.PartField(part, name)
			if err != nil {
				return types.WrapErr(err), true
			}

			return types.DefaultTypeAdapter.NativeToValue(value), found
		},
		whole: func() ref.Val {
			whole, err := object()
			if err != nil {
				return types.WrapErr(err)
			}

			return types.DefaultTypeAdapter.NativeToValue(whole[part])
		},
	}
}

func mapOf(fields map[string]any, err error) ref.Val {
	if err != nil {
		return types.WrapErr(fmt.Errorf("reading the cluster: %w", err))
	}

	return types.NewStringInterfaceMap(types.DefaultTypeAdapter, fields)
}

// Find returns the value of a field; false if the field is absent.
func (s *lazyMap) Find(key ref.Val) (ref.Val, bool) {
	if name, ok := key.(types.String); ok {
		return s.field(string(name))
	}

	return nil, false
}

// Get returns the value of a field, or an error if the field is absent.
func (s *lazyMap) Get(key ref.Val) ref.Val {
	if value, found := s.Find(key); found {
		return value
	}

	if whole, ok := s.whole().(traits.Indexer); ok {
		return whole.Get(key)
	}

	return s.whole()
}

// Contains reports whether a field is present.
func (s *lazyMap) Contains(key ref.Val) ref.Val {
	if _, found := s.Find(key); found {
		return types.True
	}

	if whole, ok := s.whole().(traits.Container); ok {
		return whole.Contains(key)
	}

	return s.whole()
}

// Iterator returns an iterator over the names of the fields.
func (s *lazyMap) Iterator() traits.Iterator {
	if whole, ok := s.whole().(traits.Iterable); ok {
		return whole.Iterator()
	}

	return types.NewStringInterfaceMap(types.DefaultTypeAdapter, nil).Iterator()
}

// Size returns the number of fields.
func (s *lazyMap) Size() ref.Val {
	if whole, ok := s.whole().(traits.Sizer); ok {
		return whole.Size()
	}

	return s.whole()
}

// Equal compares the whole object.
func (s *lazyMap) Equal(other ref.Val) ref.Val {
	if same, ok := other.(*lazyMap); ok {
		other = same.whole()
	}

	return s.whole().Equal(other)
}

// ConvertToNative converts the whole object.
func (s *lazyMap) ConvertToNative(to reflect.Type) (any, error) {
	return s.whole().ConvertToNative(to) //nolint:wrapcheck // The error of the whole object is returned as it is.
}

// ConvertToType converts the whole object.
func (s *lazyMap) ConvertToType(to ref.Type) ref.Val {
	if to == types.TypeType {
		return types.MapType
	}

	return s.whole().ConvertToType(to)
}

// Type returns the type of a map.
func (s *lazyMap) Type() ref.Type { return types.MapType }

// Value returns the whole object.
func (s *lazyMap) Value() any { return s.whole().Value() }
