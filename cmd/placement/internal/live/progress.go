package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Progress tells a person what is going on before there is a table to look at, and after.
type Progress struct {
	Out io.Writer
}

// Do names a step, runs it, and says how long it took.
func (s *Progress) Do(what string, step func() error) error {
	if _, err := fmt.Fprintf(s.Out, "%s … ", what); err != nil {
		return errors.Join(fmt.Errorf("reporting progress: %w", err), step())
	}
	begin := time.Now()
	err := step()
	end := fmt.Sprintf("%.1fs\n", time.Since(begin).Seconds())
	switch {
	case errors.Is(err, context.Canceled):
		end = "stopped\n"
	case err != nil:
		end = "failed\n"
	}
	if _, writeErr := io.WriteString(s.Out, end); writeErr != nil {
		err = errors.Join(err, fmt.Errorf("reporting progress: %w", writeErr))
	}
	return err
}

// Printf prints a line.
func (s *Progress) Printf(format string, arguments ...any) error {
	if _, err := fmt.Fprintf(s.Out, format+"\n", arguments...); err != nil {
		return fmt.Errorf("reporting progress: %w", err)
	}
	return nil
}
