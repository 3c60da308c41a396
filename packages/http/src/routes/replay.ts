import type { KeyedRequest, Principal } from '@perdure/core'
import type { ReplayRequest } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import type { Answer } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'
import { pageAnswer } from '../response/page-answer.ts'

interface ReplayCall<Params> {
  readonly params: Params
  readonly body: InferOutput<typeof ReplayRequest>
  readonly principal: Principal
  readonly key: KeyedRequest | undefined
  readonly acceptsEventStream: boolean
}

type ReplayTarget = Parameters<UseCases['replay']['open']>[0]['of']

/** The handler of run and session replays: one page of recorded events, or a stream of all of them. */
export const replayWith =
  <Params>(
    { replay, openReplayStream }: Pick<UseCases, 'replay' | 'openReplayStream'>,
    ofParams: (params: Params) => ReplayTarget,
  ) =>
  async ({ params, body, principal, key, acceptsEventStream }: ReplayCall<Params>): Promise<Answer> => {
    const { raw = false, limit = 50, cursor, order = 'asc', speed } = body
    const request = { of: ofParams(params), raw, principal }
    if (acceptsEventStream) {
      return openReplayStream(await replay.open(request), { speed, tokenId: principal.tokenId })
    }
    const { events, replayed } = await replay.page({ ...request, page: { limit, cursor, order }, key })
    return pageAnswer(events, { replayed })
  }
