import { type AbortRun, isFields, type KeyRequest, parseIdempotencyKey, type Reply, type StartRun } from '@perdure/core'
import { isRefusal, perdureError, type Refusal, type StreamAnswer } from '@perdure/ports'
import { ERRORS, errorLine } from '@perdure/protocol'
import { type AnswersDeps, takeAnswers } from './answers.ts'
import { errorResult, resultOf } from './call-result.ts'
import { formatCursor } from './cursor.ts'
import type { QuestionDigest } from './elicitation.ts'
import type { Client, ToResult } from './era.ts'
import { invalidParams, type RpcAnswer, type RpcRequest, rpcAnswer } from './json-rpc.ts'
import type { Answer, Followed, McpCall } from './mcp-call.ts'
import type { OpenCallStream, ReadCallStream } from './open-call-stream.ts'
import { createCallProjector } from './projector.ts'
import { readTranscript } from './read-transcript.ts'
import { createRunTools, type RunToolsDeps } from './run-tools.ts'
import { toTask } from './tasks.ts'
import type { Target, Tools } from './tools.ts'

export interface ToolCallsDeps extends AnswersDeps, RunToolsDeps {
  readonly startRun: StartRun
  readonly abortRun: AbortRun
  readonly keyRequest: KeyRequest
  readonly openProjectedStream: OpenCallStream
  readonly readProjectedStream: ReadCallStream
  readonly basePath: string
  readonly digest: QuestionDigest
  /** `enforce`: a call that starts a run must have an idempotency key. */
  readonly requireKey: 'warn' | 'enforce'
  /** How long a call without progress notifications waits for its run. Milliseconds. */
  readonly mcpCallTimeoutMs: number
}

const KEY_HINT =
  'send params._meta["perdure/idempotencyKey"] or the header Idempotency-Key with a new UUID, or connect the client through perdure mcp serve --stdio, which adds one'

/** A run that ends this soon needs no task. */
const TASK_AFTER_MS = 250

export function createToolCalls(
  deps: ToolCallsDeps,
  { tools, toResult }: { readonly tools: Tools; readonly toResult: ToResult },
) {
  const { runs, startRun, mcpCallTimeoutMs } = deps

  const follow = async (call: McpCall, followed: Followed): Promise<StreamAnswer | RpcAnswer> => {
    const { runId, target, requestId, start, lastEventId } = followed
    const { acceptsEventStream, visibility, principal } = call
    const client = acceptsEventStream ? followed.client : withoutStream(followed.client)
    const { progressToken } = client
    const projector = createCallProjector({
      ...{ runId, requestId, client, digest: deps.digest },
      toResult: (result) => toResult(client, result),
    })
    const waitMs = followed.waitMs ?? (progressToken === undefined ? mcpCallTimeoutMs : undefined)
    const request = {
      ...{ runId, target, visibility, tokenId: principal.tokenId, projector, start, lastEventId },
      frameIdOf: (frameId: string) => formatCursor({ runId, requestId, progressToken, frameId }),
      ...(waitMs === undefined ? {} : { deadline: { afterMs: waitMs, frames: projector.result } }),
    }
    const headers = { 'X-Perdure-Run-Id': runId }
    if (acceptsEventStream) return deps.openProjectedStream({ ...request, headers })
    return rpcAnswer(lastMessage(await deps.readProjectedStream(request)), 200, headers)
  }

  /** The run exists already: a server that can open no further stream tells the client how to get the result. */
  const followOrTell = async (call: McpCall, followed: Followed): Promise<Answer> => {
    try {
      return await follow(call, followed)
    } catch (error) {
      if (!(isRefusal(error) && error.code === 'overloaded')) throw error
      const run = await runs.find(followed.runId, call.visibility)
      if (run === undefined) throw error
      return { result: resultOf(await readTranscript(deps, run)) }
    }
  }

  const runTools = createRunTools(deps, followOrTell)

  /** The header is quoted or bare text, as for all operations; the member of `_meta` is the key itself. */
  const keyOf = async ({ principal, visibility, header }: McpCall, { idempotencyKey }: Client, body: object) => {
    const sent = header('idempotency-key')
    if (sent === undefined && idempotencyKey === undefined) {
      if (deps.requireKey === 'enforce') throw perdureError('idempotency-key-required', { hint: KEY_HINT })
      return undefined
    }
    const key = parseIdempotencyKey(sent ?? JSON.stringify(idempotencyKey))
    const path = `${deps.basePath}/mcp`
    const identity = { subject: principal.subject, method: 'POST', path, query: [], body }
    return { ...(await deps.keyRequest(identity, key)), visibility }
  }

  /** Starts the run, or tells the model what to correct. The key is not the concern of the model. */
  const start = async (call: McpCall, client: Client, { target, args }: Asked): Promise<Reply | Answer> => {
    const { principal, traceparent } = call
    const key = await keyOf(call, client, { target: target.id, args })
    try {
      const input = await tools.inputOf(target, args)
      return await startRun({
        target: { kind: target.kind, id: target.id },
        body: { input, metadata: { 'interop.protocol': 'mcp' } },
        ...{ key, principal, traceparent },
        ...(client.hasTasks ? { answer: 'outcome', waitMs: TASK_AFTER_MS } : { answer: 'accepted' }),
      })
    } catch (error) {
      if (isRefusal(error) && isCorrectable(error))
        return { result: errorResult(errorLine({ message: error.message, code: error.code, hint: error.hint })) }
      throw error
    }
  }

  const startAndFollow = async (call: McpCall, request: RpcRequest, client: Client, asked: Asked): Promise<Answer> => {
    const reply = await start(call, client, asked)
    if (!('runId' in reply) || reply.runId === undefined) return reply as Answer
    const { runId } = reply
    const { target } = asked
    if (!client.hasTasks) return followOrTell(call, { runId, target, requestId: request.id, client, start: 'first' })
    const run = await runs.find(runId, call.visibility)
    if (run === undefined) throw perdureError('run-not-found')
    const transcript = await readTranscript(deps, run)
    return {
      result: run.completedAt === undefined ? { resultType: 'task', ...toTask(run, transcript) } : resultOf(transcript),
    }
  }

  /** Continues a call whose result was `input_required`. */
  const answerAndFollow = async (
    call: McpCall,
    request: RpcRequest,
    client: Client,
    { target }: Asked,
  ): Promise<Answer> => {
    const { requestState, inputResponses = {} } = request.params ?? {}
    const run = typeof requestState === 'string' ? await runs.find(requestState, call.visibility) : undefined
    if (run?.kind !== target.kind || run.targetId !== target.id) return invalidParams('params.requestState: unknown')
    const answered = await takeAnswers(deps, call, inputResponses)
    if ('code' in answered) return answered
    const asking = answered.isCancelled ? { ...client, elicits: false } : client
    return followOrTell(call, { runId: run.id, target, requestId: request.id, client: asking, start: 'now' })
  }

  /** Takes answers of a client without a handshake. A user who cancels is not asked again by this call. */
  const withAnswers = async (
    call: McpCall,
    client: Client,
    answers: unknown,
    next: (asking: Client) => Promise<Answer>,
  ): Promise<Answer> => {
    if (client.era === 'legacy' || answers === undefined) return next(client)
    const answered = await takeAnswers(deps, call, answers)
    if ('code' in answered) return answered
    return next(answered.isCancelled ? { ...client, elicits: false } : client)
  }

  return {
    follow,
    /** Calls a tool: starts a run, and answers with its events and its result. */
    async call(call: McpCall, request: RpcRequest, client: Client): Promise<Answer> {
      const { name, arguments: args = {}, inputResponses } = request.params ?? {}
      if (typeof name !== 'string') return invalidParams('params.name: must be a string')
      if (!isFields(args)) return invalidParams('params.arguments: must be an object')
      const runTool = Object.hasOwn(runTools, name) ? runTools[name] : undefined
      if (runTool !== undefined) {
        return withAnswers(call, client, inputResponses, (asking) => runTool(call, args, { request, client: asking }))
      }
      const target = tools.find(call, name)
      if (target === undefined) return invalidParams(`unknown tool ${name.slice(0, 128)}`)
      const follows = isAnswer(client, request) ? answerAndFollow : startAndFollow
      return follows(call, request, client, { target, args })
    },
  }
}

interface Asked {
  readonly target: Target
  readonly args: Readonly<Record<string, unknown>>
}

const isAnswer = ({ era }: Client, { params }: RpcRequest): boolean =>
  era === 'modern' && (params?.requestState !== undefined || params?.inputResponses !== undefined)

/** Without a stream, a legacy client cannot be asked, and nobody reads progress. */
const withoutStream = (client: Client): Client => ({
  ...client,
  elicits: client.elicits && client.era === 'modern',
  isPrimed: false,
  progressToken: undefined,
})

/** The result, for a client that reads no event stream. */
function lastMessage(blocks: string): object {
  const last = blocks.split('\n').findLast((line) => line.startsWith('data: '))
  if (last === undefined) throw perdureError('overloaded', { retryAfter: 1_000 })
  return JSON.parse(last.slice('data: '.length)) as object
}

/** A refusal that a model can react to; others are errors of the request. */
const isCorrectable = ({ code }: Refusal): boolean => {
  const { status } = ERRORS[code]
  return status === 400 || status === 404 || status === 409
}
