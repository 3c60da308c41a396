import { defaultApplyEvents, verifyEvents } from '@ag-ui/client'
import { readUIMessageStream, type UIMessage } from 'ai'
import fc from 'fast-check'
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream'
import { ResponseStream } from 'openai/lib/responses/ResponseStream'
import type { Response as OpenAiResponse } from 'openai/resources/responses/responses'
import { from, lastValueFrom, toArray } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { createAgUiProjector } from './ag-ui/projector.ts'
import { createAiSdkProjector } from './ai-sdk/projector.ts'
import { RUN } from './fold/events.fixture.ts'
import { beginFold, foldLog, transcriptOf } from './fold/fold.ts'
import type { LogEvent } from './fold/log-event.ts'
import { outputText } from './fold/output-text.ts'
import { runScript } from './fold/run-script.fixture.ts'
import { resultOf } from './mcp/call-result.ts'
import { createCompletionProjector } from './openai/completion-projector.ts'
import { createResponseProjector } from './openai/response-projector.ts'
import { createSegments } from './openai/segments.ts'
import type { Frame, Projector } from './projection.ts'

const numRuns = Number(process.env.INTEROP_LOGS ?? 40)

const VIEW = { runId: RUN, agentId: 'mail' }

/** What a client knows after it has read the run. A member is missing if the protocol does not tell it. */
interface Told {
  readonly text: string
  readonly tools?: readonly string[]
  readonly approvals?: readonly string[]
  readonly end?: string | undefined
}

/** Protocols differ in what they put between two blocks of text. */
const joined = (texts: readonly string[]): string => texts.join('').replaceAll('\n\n', '')

const sorted = (values: readonly string[]): readonly string[] => [...new Set(values)].sort()

/** What the fold of the log tells, which every protocol has to tell. */
function toldByLog(log: readonly LogEvent[]): Told {
  const transcript = transcriptOf(foldLog(log, beginFold(RUN)))
  const { items, status } = transcript
  return {
    text: joined([outputText(status === 'completed' ? transcript : { items, result: undefined })]),
    tools: sorted(
      items.flatMap((item) =>
        item.kind === 'tool' ? [`${item.id} ${item.status === 'done' ? 'done' : 'failed'}`] : [],
      ),
    ),
    approvals: sorted(items.flatMap((item) => (item.kind === 'approval' ? [item.id] : []))),
    end: status === 'running' ? undefined : status,
  }
}

const framesOf = (projector: Projector, log: readonly LogEvent[], opening: readonly Frame[]): readonly Frame[] => [
  ...opening,
  ...log.flatMap((event) => projector.next(event)),
  ...(projector.rest() ?? []),
]

const dataOf = <T>(frames: readonly Frame[]): readonly T[] =>
  frames.flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data) as T]))

async function toldByAiSdk(log: readonly LogEvent[]): Promise<Told> {
  const projector = createAiSdkProjector(VIEW, 7)
  const chunks = dataOf<{ type: string; finishReason?: string }>(framesOf(projector, log, projector.opening('rest')))
  const stream = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  let message: UIMessage | undefined
  for await (const one of readUIMessageStream({ stream: stream as never, onError: () => undefined })) message = one
  const tools = (message?.parts ?? []).flatMap((part) => (part.type === 'dynamic-tool' ? [part] : []))
  const last = chunks.findLast(({ type }) => type === 'abort' || type === 'finish')
  return {
    text: joined((message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : ''))),
    tools: sorted(
      tools
        .filter(({ toolName }) => !toolName.startsWith('approval.'))
        .map(({ toolCallId, state }) => `${toolCallId} ${state === 'output-available' ? 'done' : 'failed'}`),
    ),
    approvals: sorted(tools.flatMap((part) => ('approval' in part && part.approval ? [part.approval.id] : []))),
    end: last?.type === 'abort' ? 'aborted' : { stop: 'completed', error: 'failed' }[last?.finishReason ?? ''],
  }
}

interface AgUiMessage {
  readonly role: string
  readonly content?: string
  readonly toolCallId?: string
  readonly error?: string
}

async function toldByAgUi(log: readonly LogEvent[]): Promise<Told> {
  const projector = createAgUiProjector({ ...VIEW, threadId: 't', clientRunId: 'r', history: [] })
  const events = dataOf<{ type: string; value?: { approvalId: string }; outcome?: { type: string } }>(
    framesOf(projector, log, projector.opening('rest')),
  )
  await lastValueFrom(from(events as never[]).pipe(verifyEvents(), toArray()))
  const agent = { messages: [], state: {}, subscribers: [], pendingInterrupts: [] } as never
  const input = { threadId: 't', runId: 'r', messages: [], tools: [], context: [], forwardedProps: {}, state: {} }
  const changes = await lastValueFrom(
    defaultApplyEvents(input as never, from(events as never[]), agent, []).pipe(toArray()),
  )
  const messages = (changes.findLast((change) => change.messages !== undefined)?.messages ?? []) as AgUiMessage[]
  const last = events.at(-1)
  return {
    text: joined(messages.map(({ role, content }) => (role === 'assistant' ? (content ?? '') : ''))),
    tools: sorted(
      messages.flatMap(({ role, toolCallId, content }) =>
        role === 'tool' ? [`${toolCallId} ${content?.startsWith('{"error"') === true ? 'failed' : 'done'}`] : [],
      ),
    ),
    approvals: sorted(events.flatMap(({ value }) => (value?.approvalId === undefined ? [] : [value.approvalId]))),
    end:
      last?.type === 'RUN_ERROR' ? 'failed' : { success: 'completed', cancelled: 'aborted' }[last?.outcome?.type ?? ''],
  }
}

const segmentsIn = (log: readonly LogEvent[]): readonly number[] => {
  const segments = createSegments(RUN)
  for (const event of log) segments.next(event)
  return Array.from({ length: segments.current() }, (_, index) => index + 1)
}

const lines = (frames: readonly Frame[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const { data } of frames) if (data !== '[DONE]') controller.enqueue(new TextEncoder().encode(`${data}\n`))
      controller.close()
    },
  })

async function toldByResponses(log: readonly LogEvent[]): Promise<Told> {
  const responses: OpenAiResponse[] = []
  for (const segment of segmentsIn(log)) {
    const projector = createResponseProjector({
      ...{ ...VIEW, segment, model: 'mail', startedAt: 1, metadata: {}, isBackground: false },
    })
    responses.push(await ResponseStream.fromReadableStream(lines(framesOf(projector, log, []))).finalResponse())
  }
  const output = responses.flatMap((response) => response.output)
  const { status } = responses.at(-1) ?? {}
  return {
    text: joined(responses.map(({ output_text }) => output_text)),
    tools: sorted(
      output.flatMap((item) => {
        // The client itself sends the result of such a call, and the script has one for each.
        if (item.type === 'function_call') return [`${item.call_id} done`]
        return item.type === 'mcp_call'
          ? [`${item.id.slice(4)} ${item.status === 'completed' ? 'done' : 'failed'}`]
          : []
      }),
    ),
    approvals: sorted(output.flatMap((item) => (item.type === 'mcp_approval_request' ? [item.id.slice(5)] : []))),
    end: status === 'in_progress' ? undefined : status === 'cancelled' ? 'aborted' : status,
  }
}

/** Tools of the server are not shown. */
async function toldByCompletions(log: readonly LogEvent[]): Promise<Told> {
  const texts: string[] = []
  const approvals: string[] = []
  let end: string | undefined
  for (const segment of segmentsIn(log)) {
    const projector = createCompletionProjector({ ...VIEW, segment, model: 'mail', isStreamed: true, hasUsage: false })
    const stream = ChatCompletionStream.fromReadableStream(lines(framesOf(projector, log, [])))
    stream.on('content', (delta) => void texts.push(delta))
    const completion = await stream.finalChatCompletion().catch(({ code }: { code?: string }) => {
      end = code === 'aborted' ? 'aborted' : code === undefined ? undefined : 'failed'
    })
    const calls = completion?.choices[0]?.message.tool_calls ?? []
    approvals.push(...calls.map(({ id }) => id).filter((id) => id.startsWith('apr_')))
    if (completion?.choices[0]?.finish_reason === 'stop') end = 'completed'
  }
  return { text: joined(texts), approvals: sorted(approvals), end }
}

/** The result of a tool call: the text, and whether it is an error. */
function toldByMcp(log: readonly LogEvent[]): Told | undefined {
  const transcript = transcriptOf(foldLog(log, beginFold(RUN)))
  if (transcript.status !== 'completed') return undefined
  const { content, isError } = resultOf(transcript)
  return { text: joined(content.map(({ text }) => text)), end: isError === true ? 'failed' : 'completed' }
}

describe('one recorded run', () => {
  it('is told by every protocol with the same text, tools, approvals and end', async () => {
    await fc.assert(
      fc.asyncProperty(runScript, async (log) => {
        const { tools, ...expected } = toldByLog(log)

        expect(await toldByAiSdk(log), 'AI SDK').toEqual({ ...expected, tools })
        expect(await toldByAgUi(log), 'AG-UI').toEqual({ ...expected, tools })
        expect(await toldByResponses(log), 'Responses').toEqual({ ...expected, tools })
        expect(await toldByCompletions(log), 'Chat Completions').toEqual(expected)
        const { approvals: _, ...result } = expected
        expect(toldByMcp(log) ?? result, 'MCP').toEqual(result)
      }),
      { numRuns },
    )
  })
})
