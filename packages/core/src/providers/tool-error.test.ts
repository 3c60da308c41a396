import { TOOL_FAILURES, type ToolFailureKind } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { ToolError } from './tool-error.ts'

describe('ToolError', () => {
  it.each(Object.keys(TOOL_FAILURES) as ToolFailureKind[])('has the kind %s and its default message', (kind) => {
    const error = new ToolError(kind)

    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'ToolError', kind, message: TOOL_FAILURES[kind] })
    expect('cause' in error).toBe(false)
  })

  it('keeps the given message and cause', () => {
    const cause = new Error('no answer')

    expect(new ToolError('timeout', { message: 'search took too long', cause })).toMatchObject({
      message: 'search took too long',
      cause,
    })
  })
})
