import type { OperationTable } from '../operation.ts'
import { EmitEventRequest, EmittedEvent } from '../resources/named-events.ts'
import { RUN_SIGHT } from './runs.ts'

export const namedEventOperations = {
  emitEvent: {
    id: 'events.emit',
    method: 'POST',
    path: '/events/:name',
    scope: 'events:emit:{name}',
    sight: RUN_SIGHT,
    idempotent: true,
    body: EmitEventRequest,
    responses: {
      202: {
        schema: EmittedEvent,
        description:
          'The event is stored. Lists the runs that it woke and the fires of its triggers, as far as the token may see them.',
      },
    },
    errors: [],
    summary: 'Emit a named event: wake the runs that wait for this event and fire its triggers.',
  },
} as const satisfies OperationTable
