import type { OperationTable } from '../operation.ts'
import { EmitEventRequest, EmittedEvent } from '../resources/named-events.ts'

export const namedEventOperations = {
  emitEvent: {
    id: 'events.emit',
    method: 'POST',
    path: '/events/:name',
    scope: 'events:emit:{name}',
    idempotent: true,
    body: EmitEventRequest,
    responses: {
      202: { schema: EmittedEvent, description: 'The runs that the event woke and the triggers that it fired.' },
    },
    errors: [],
    summary: 'Emit a named event: wake the runs that wait for this event and fire its triggers.',
  },
} as const satisfies OperationTable
