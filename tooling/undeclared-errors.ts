import { subscribe } from 'node:diagnostics_channel'
import { afterEach, expect } from 'vitest'

interface Answered {
  readonly undeclared: string[]
}

/** Test files that share a process share the list, and one subscription. */
const SHARED = Symbol.for('perdure.undeclared-errors')

function answered(): Answered {
  const holder = globalThis as { [SHARED]?: Answered }
  if (holder[SHARED] === undefined) {
    const undeclared: string[] = []
    subscribe('perdure.undeclared-error', (message) => {
      const { operationId, code } = message as { readonly operationId: string; readonly code: string }
      undeclared.push(`${operationId} answered with ${code}`)
    })
    holder[SHARED] = { undeclared }
  }
  return holder[SHARED]
}

/** The answers of this test whose errors their operations do not declare. A test that provokes one takes it. */
export const takeUndeclared = (): readonly string[] => answered().undeclared.splice(0)

answered()
// An error that a client meets and that no table names is missing in the documents and the types of the client.
afterEach(() => expect(takeUndeclared(), 'add the error to the row of the operation').toEqual([]))
