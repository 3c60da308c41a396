import type { namedEventOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'

/** `/events`: emitting named events. */
export const namedEventRoutes = ({
  emitEvent,
}: Pick<UseCases, 'emitEvent'>): Handlers<typeof namedEventOperations> => ({
  emitEvent: ({ params, body, principal, visibility, key }) =>
    emitEvent({ name: params.name, payload: body.payload, caller: { principal, runs: visibility }, key }),
})
