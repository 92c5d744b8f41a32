// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Progress reports the steps before and after the table.
type Progress struct {
	Out io.Writer
}

// Do prints the name of a step, runs it, and prints its duration or outcome. It returns the error of the step.
func (p *Progress) Do(what string, step func() error) error {
	if _, err := fmt.Fprintf(p.Out, "%s … ", what); err != nil {
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
	if _, writeErr := io.WriteString(p.Out, end); writeErr != nil {
		err = errors.Join(err, fmt.Errorf("reporting progress: %w", writeErr))
	}
	return err
}

// Printf prints a line.
func (p *Progress) Printf(format string, arguments ...any) error {
	if _, err := fmt.Fprintf(p.Out, format+"\n", arguments...); err != nil {
		return fmt.Errorf("reporting progress: %w", err)
	}
	return nil
}
