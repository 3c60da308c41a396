import { perdureError } from '@perdure/ports'
import type { realtimeOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'

/** `/session/ws-ticket` and `/ws`. WebSocket upgrades are handled separately, by `admitUpgrade`. */
export const realtimeRoutes = ({
  issueTicket,
}: Pick<UseCases, 'issueTicket'>): Handlers<typeof realtimeOperations> => ({
  createWsTicket: ({ principal, origin, key }) => issueTicket({ principal, origin, key }),
  openWebSocket() {
    throw perdureError('validation-failed', {
      message: 'this route accepts only WebSocket upgrades',
      hint: 'send the headers Upgrade: websocket and Sec-WebSocket-Protocol: svc.protocol.v1',
    })
  },
})
