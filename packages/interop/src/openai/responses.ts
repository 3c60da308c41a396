import type { Reply } from '@perdure/core'
import { isRefusal, type StreamAnswer } from '@perdure/ports'
import type { ProtocolCall } from '../handlers.ts'
import { continueRun } from './answers.ts'
import { refuseHostedTools } from './completion-request.ts'
import { awaitAnswer, jsonAnswer, streamAnswer } from './delivery.ts'
import { inputItems, readAnswerItems } from './input-items.ts'
import { type ListQuery, toList } from './lists.ts'
import { functionsIn, refuseParts, settingsOf } from './messages.ts'
import { type AnsweringRun, isReply, type OpenaiDeps, type Outcome } from './openai-call.ts'
import { unsupported } from './refusals.ts'
import { contextOf, passInput } from './response-context.ts'
import { BACKGROUND, findResponse, projectorsOf, readResponse, viewOf } from './response-reader.ts'
import { answersIn, inputMessages, newInput, RESPONSE_MEMBERS, type ResponseBody } from './response-request.ts'
import { startAnswer } from './start.ts'

export interface ResponseQuery {
  readonly stream?: 'true' | 'false' | undefined
  /** The number of the last event that the client has. */
  readonly starting_after?: number | undefined
}

/** Responses: segments of runs, which a client follows and answers. */
export interface Responses {
  create(call: ProtocolCall, body: ResponseBody): Promise<StreamAnswer | Response | Reply>
  get(call: ProtocolCall, id: string, query: ResponseQuery): Promise<StreamAnswer | Response>
  /** Aborts the run. A response that has ended is unchanged. */
  cancel(call: ProtocolCall, id: string): Promise<Response>
  input(call: ProtocolCall, id: string, query: ListQuery): Promise<object>
}

export function createResponses(deps: OpenaiDeps): Responses {
  const { abortRun, ids } = deps

  const begin = async (call: ProtocolCall, body: ResponseBody): Promise<Outcome> => {
    const context = await contextOf(deps, call, body)
    const { session, previous, remembered } = context
    const answers = answersIn(body.input, previous?.run.id)
    if (answers.decisions.length + answers.results.length > 0) {
      const ref = body.previous_response_id ?? answers.decisions[0]?.approvalId ?? ''
      return continueRun(deps, call, answers, { sessionId: session?.id, ref })
    }
    const passed = await passInput(deps, call, body, context)
    if (passed !== undefined) return passed
    const ofClient = session === undefined && body.store !== false ? { id: ids.newId('session') } : session
    return startAnswer(deps, call, {
      body,
      param: 'input',
      messages: inputMessages(session === undefined ? body.input : newInput(body.input)),
      settings: settingsOf(body, RESPONSE_MEMBERS),
      tools: functionsIn(body.tools),
      offered: offeredBy(body),
      session: ofClient,
      remembered: { ...remembered, ...(body.background === true ? { [BACKGROUND]: 'true' } : {}) },
    })
  }

  /** The response, once it has ended or the server cannot wait any longer. */
  const awaited = async (call: ProtocolCall, outcome: AnsweringRun): Promise<object> => {
    const projector = (await projectorsOf(deps, outcome))()
    const hasEnded = await awaitAnswer(deps, call, outcome, projector)
    const response = hasEnded ? projector.response() : undefined
    return response ?? (await readResponse(deps, outcome)).response
  }

  const stream = async (call: ProtocolCall, outcome: AnsweringRun, after?: number) => {
    const renew = await projectorsOf(deps, outcome)
    // A client that has the first events does not get them again, so it shares nothing.
    const sharing = after === undefined ? { form: `responses ${JSON.stringify(viewOf(outcome))}`, renew } : undefined
    return streamAnswer(deps, call, outcome, { projector: renew(after), sharing })
  }

  return {
    async create(call, body) {
      refuseResponse(body)
      const outcome = await begin(call, body)
      if (isReply(outcome)) return outcome
      if (body.stream === true) return stream(call, outcome)
      const response =
        body.background === true ? (await readResponse(deps, outcome)).response : await awaited(call, outcome)
      return jsonAnswer(response, outcome)
    },
    async get(call, id, query) {
      const found = await findResponse(deps, call, id)
      const { response } = await readResponse(deps, found, call.charge)
      return query.stream === 'true' ? stream(call, found, query.starting_after) : jsonAnswer(response, found)
    },
    async cancel(call, id) {
      const { principal, visibility, key } = call
      const found = await findResponse(deps, call, id)
      const { isNewest } = await readResponse(deps, found)
      const request = { runId: found.run.id, reason: 'cancelled by the client', principal, visibility, key }
      const via = { protocol: 'openai', ref: id }
      const aborted = isNewest ? await abortRun({ ...request, via }).catch(passEnded) : undefined
      const ended = { ...(await findResponse(deps, call, id)), replayed: aborted?.replayed }
      return jsonAnswer((await readResponse(deps, ended)).response, ended)
    },
    async input(call, id, query) {
      const found = await findResponse(deps, call, id)
      if (found.segment === 1) return toList(inputItems(found.run), query)
      await readResponse(deps, found)
      return toList(await readAnswerItems(deps, found.run, found.segment), query)
    },
  }
}

/** @throws PerdureError `unsupported-parameter`, `validation-failed` */
function refuseResponse({ store, background, previous_response_id, conversation, tools, input }: ResponseBody): void {
  const hasContext = (previous_response_id ?? conversation ?? undefined) !== undefined
  if (store === false && (background === true || hasContext)) {
    throw unsupported('store', 'the server records every run; false is accepted only outside a conversation')
  }
  refuseHostedTools(tools)
  const items = typeof input === 'string' ? [] : input
  for (const [index, { content }] of items.entries()) refuseParts(content, `input.${index}.content`)
}

/** What the client passes to the agent besides the messages. */
const offeredBy = ({ instructions }: ResponseBody): Readonly<Record<string, unknown>> =>
  typeof instructions === 'string' && instructions !== ''
    ? { context: [{ description: 'instructions', value: instructions }] }
    : {}

function passEnded(error: unknown): undefined {
  if (!(isRefusal(error) && error.code === 'run-not-active')) throw error
}
