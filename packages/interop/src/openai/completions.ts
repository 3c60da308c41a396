import type { Reply } from '@perdure/core'
import type { StreamAnswer } from '@perdure/ports'
import { chatSessionId } from '../chat/chat-session.ts'
import type { ProtocolCall } from '../handlers.ts'
import { continueRun } from './answers.ts'
import { type CompletionView, createCompletionProjector } from './completion-projector.ts'
import {
  answersIn,
  COMPLETION_MEMBERS,
  type CompletionBody,
  completionMessages,
  newMessages,
  refuseCompletion,
} from './completion-request.ts'
import { awaitAnswer, jsonAnswer, streamAnswer } from './delivery.ts'
import { functionsIn, settingsOf } from './messages.ts'
import { isReply, type OpenaiDeps, type Outcome } from './openai-call.ts'
import { createRepeatedCompletion } from './repeated-completion.ts'
import { startAnswer } from './start.ts'
import { failureOf } from './stream-errors.ts'

/** Chat Completions. */
export interface Completions {
  /** Starts a run, or passes decisions and tool results to the run that waits for them, and answers with its text. */
  create(call: ProtocolCall, body: CompletionBody): Promise<StreamAnswer | Response | Reply>
}

/** The member of the metadata that names the session of a chat. Without it, each request has the whole chat. */
const SESSION = 'session_id'

export function createCompletions(deps: OpenaiDeps): Completions {
  const begin = async (call: ProtocolCall, body: CompletionBody): Promise<Outcome> => {
    const { messages, metadata, tools } = body
    const { [SESSION]: externalId, ...others } = metadata ?? {}
    const sessionId =
      externalId === undefined
        ? undefined
        : await chatSessionId(deps, call.principal, externalId, 'metadata.session_id')
    const answers = answersIn(messages)
    if (answers.decisions.length + answers.results.length > 0) {
      const ref = answers.decisions[0]?.approvalId ?? ''
      return continueRun(deps, call, answers, { sessionId, ref })
    }
    return startAnswer(deps, call, {
      body: { ...body, metadata: others },
      param: 'messages',
      messages: completionMessages(sessionId === undefined ? messages : newMessages(messages)),
      settings: settingsOf(body, COMPLETION_MEMBERS),
      tools: functionsIn(tools),
      session: sessionId === undefined ? undefined : { id: sessionId, externalId },
    })
  }

  return {
    async create(call, body) {
      refuseCompletion(body)
      const outcome = await begin(call, body)
      if (isReply(outcome)) return outcome
      const { run, segment } = outcome
      const isStreamed = body.stream === true
      const view: CompletionView = {
        ...{ runId: run.id, agentId: run.targetId, sessionId: run.sessionId, segment, model: body.model, isStreamed },
        hasUsage: body.stream_options?.include_usage === true,
      }
      if (isStreamed && outcome.isRepeated === true) {
        return streamAnswer(deps, call, outcome, { projector: createRepeatedCompletion(view), start: 'now' })
      }
      const projector = createCompletionProjector(view)
      if (isStreamed) return streamAnswer(deps, call, outcome, { projector })
      await awaitAnswer(deps, call, outcome, projector)
      const completion = projector.completion()
      if (completion === undefined)
        return jsonAnswer({ error: NOT_AWAITED }, outcome, { status: 503, headers: NO_RETRY })
      if ('completion' in completion) return jsonAnswer(completion.completion, outcome)
      return jsonAnswer({ error: failureOf(completion.failure) }, outcome, { status: 500, headers: NO_RETRY })
    },
  }
}

/** The client repeats a request with the status 5xx, and so would start the run again. */
const NO_RETRY = { 'X-Should-Retry': 'false' }

const NOT_AWAITED = {
  message: 'the run was started, but the server cannot wait for it: read it by the id in X-Perdure-Run-Id',
  ...{ type: 'server_error', code: 'overloaded', param: null },
}
