import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { IssueToken } from '@perdure/core'
import type { HttpApp, HttpEnv } from '@perdure/http'
import type { Logger, Timers } from '@perdure/ports'
import type { IncomingUpgrade, SocketServer, UpgradeSocket } from '@perdure/realtime'
import { refuseOnSocket } from '../listener/refuse.ts'
import { createFindRefusal } from '../listener/unreadable-request.ts'
import { createUpgrades } from '../listener/upgrades.ts'
import { waitAtMost } from '../start/stop-budget.ts'

/** The requests that the surrounding program passes to a started server. */
export interface PassedRequests {
  answer(request: Request, env: Pick<HttpEnv, 'clientAddress' | 'caller'>): Promise<Response>
  readonly issueToken: IssueToken
  upgrade(incoming: IncomingUpgrade, socket: UpgradeSocket, head: Uint8Array): void
  /** Waits up to `graceMs` for the answers to the requests passed so far. */
  settled(graceMs: number): Promise<void>
}

export interface PassedRequestsDeps {
  readonly app: HttpApp
  readonly issueToken: IssueToken
  readonly webSockets: Pick<SocketServer, 'accept'>
  readonly logger: Logger
  readonly timers: Timers
  readonly maxHeaders: number
}

export function createPassedRequests({ timers, maxHeaders, ...deps }: PassedRequestsDeps): PassedRequests {
  const findRefusal = createFindRefusal(maxHeaders)
  const onUpgrade = createUpgrades({ ...deps, isMounted: true })
  const pending = new Set<Promise<Response>>()

  return {
    issueToken: deps.issueToken,
    async answer(request, env) {
      const answering = deps.app.fetch(request, env)
      pending.add(answering)
      try {
        return await answering
      } finally {
        pending.delete(answering)
      }
    },
    upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer) {
      const refusal = findRefusal(incoming)
      if (refusal === undefined) onUpgrade(incoming, socket, head)
      else refuseOnSocket(socket, refusal, incoming)
    },
    settled: (graceMs) => waitAtMost(timers, graceMs, [Promise.all(pending)]),
  }
}
