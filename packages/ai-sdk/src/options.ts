/** How a durable call treats an option of the AI SDK. */
export type Fate =
  /** The SDK handles it, in each execution of the run. */
  | 'kept'
  /** It is wrapped, so that its calls are recorded. */
  | 'durable'
  /** It is called once per run. */
  | 'once'
  /** It is called again when the run executes again. */
  | 'each execution'
  | 'ignored'
  | 'refused'

type Row = readonly [fate: Fate, note?: string]

/** The options of `streamText`, `generateText` and `ToolLoopAgent`, in version 6 or 7. */
// biome-ignore format: one line per option
export const CALL_OPTIONS = {
  _internal: ['kept'],
  abortSignal: ['kept', 'the end of the run aborts the call too'],
  activeTools: ['kept'],
  allowSystemInMessages: ['kept'],
  callOptionsSchema: ['kept', 'the options of a chat agent are the other members of the chat request, or `input.settings` over REST; options that the schema refuses, also because they are left out, are answered with 400'],
  experimental_activeTools: ['kept'],
  experimental_context: ['kept'],
  experimental_download: ['each execution', 'without it, `ctx.files.read` loads what the model does not: from public addresses and `files.allowHosts`'],
  experimental_include: ['kept'],
  experimental_onLanguageModelCallEnd: ['each execution'],
  experimental_onLanguageModelCallStart: ['each execution'],
  experimental_onStart: ['each execution'],
  experimental_onStepStart: ['each execution'],
  experimental_onToolCallFinish: ['once'],
  experimental_onToolCallStart: ['each execution'],
  experimental_output: ['kept', 'a run that returns the call completes with the object'],
  experimental_prepareStep: ['each execution', 'a model that it returns is durable'],
  experimental_refineToolInput: ['each execution'],
  experimental_repairToolCall: ['once', 'recorded, so it may call a model'],
  experimental_sandbox: ['kept', 'what a tool does in it is recorded with the tool'],
  experimental_steering: ['refused', 'a message that is sent in this way is lost in a crash; wait for the end of the turn, or abort it'],
  experimental_telemetry: ['kept'],
  experimental_toolApprovalSecret: ['ignored', 'the server holds the approvals, so a client cannot forge one'],
  experimental_toolCallers: ['kept', 'a tool that calls other tools is recorded as a whole'],
  experimental_transform: ['each execution', 'the page shows the transformed text if the run returns the stream'],
  frequencyPenalty: ['kept'],
  headers: ['kept'],
  id: ['kept', 'the id of the registered agent'],
  include: ['kept', '`rawChunks` is refused'],
  includeRawChunks: ['refused', 'raw chunks are not recorded, so a re-execution would miss them; read `providerMetadata` instead'],
  instructions: ['kept'],
  maxOutputTokens: ['kept'],
  maxRetries: ['kept', 'the retries belong to the recorded call'],
  messages: ['kept'],
  model: ['durable'],
  onAbort: ['once', 'not if the run is aborted while nothing of it executes, as while it waits'],
  onChunk: ['each execution'],
  onEnd: ['once'],
  onError: ['once'],
  onFinish: ['once'],
  onLanguageModelCallEnd: ['each execution'],
  onLanguageModelCallStart: ['each execution'],
  onStart: ['each execution'],
  onStepEnd: ['once'],
  onStepError: ['once'],
  onStepFinish: ['once'],
  onStepStart: ['each execution'],
  onToolExecutionEnd: ['once'],
  onToolExecutionStart: ['each execution'],
  output: ['kept', 'a run that returns the call completes with the object'],
  prepareCall: ['each execution', 'a model and tools that it returns are durable'],
  prepareStep: ['each execution', 'a model that it returns is durable'],
  presencePenalty: ['kept'],
  prompt: ['kept'],
  providerOptions: ['kept'],
  reasoning: ['kept'],
  repairToolCall: ['once', 'recorded, so it may call a model'],
  runtimeContext: ['kept'],
  seed: ['kept'],
  stopSequences: ['kept'],
  stopWhen: ['each execution'],
  streamRetries: ['refused', 'text that is shown cannot be taken back; set `retries` of the agent, or `maxRetries` for errors before the first word'],
  system: ['kept'],
  telemetry: ['kept'],
  temperature: ['kept'],
  timeout: ['durable', 'the total counts from the first execution; `stepMs`, `firstChunkMs` and `chunkMs` limit each answer, `toolMs` each execution of a tool'],
  toolApproval: ['durable', 'asked as approvals; what a function decides is recorded'],
  toolCallConcurrency: ['kept'],
  toolChoice: ['kept'],
  toolOrder: ['kept'],
  tools: ['durable'],
  toolsContext: ['kept'],
  topK: ['kept'],
  topP: ['kept'],
} as const satisfies Readonly<Record<string, Row>>

/** The options of `tool`. */
// biome-ignore format: one line per option
export const TOOL_OPTIONS = {
  args: ['kept'],
  contextSchema: ['kept'],
  deferLoading: ['kept'],
  description: ['kept', 'the title of an approval, unless the tool has a title'],
  execute: ['durable', 'recorded; without it, the client performs the tool'],
  id: ['kept'],
  inputExamples: ['kept'],
  inputSchema: ['kept'],
  isProviderExecuted: ['kept', 'the answer of the model has the result'],
  metadata: ['kept'],
  needsApproval: ['durable', 'asked as an approval; what a function decides is recorded'],
  onInputAvailable: ['each execution'],
  onInputDelta: ['each execution'],
  onInputStart: ['each execution'],
  outputSchema: ['kept'],
  providerOptions: ['kept'],
  strict: ['kept'],
  supportsDeferredResults: ['kept'],
  title: ['kept', 'the title of an approval, and of the call on the page'],
  toModelOutput: ['each execution', 'not called for a denied call'],
  type: ['kept', '`dynamic` tools are dynamic on the page'],
} as const satisfies Readonly<Record<string, Row>>

/** The options of `useChat`, which runs in the page. */
// biome-ignore format: one line per option
export const CHAT_OPTIONS = {
  dataPartSchemas: ['kept'],
  experimental_queue: ['kept', 'the queue is in the page, and lost with it'],
  generateId: ['kept', 'the id of a message is also its idempotency key'],
  id: ['kept', 'names the session'],
  messageMetadataSchema: ['kept', 'must accept `perdureTruncated`, which the first message of a long history has'],
  messages: ['kept', 'those of `GET /v1/agents/:id/chat/:chatId/messages`'],
  onData: ['kept'],
  onError: ['kept'],
  onFinish: ['kept'],
  onToolCall: ['kept', 'called for tools of the server too, as with the SDK alone'],
  sendAutomaticallyWhen: ['kept'],
  transport: ['kept', 'each transport of the SDK; `DefaultChatTransport` also with `createChatFetch`'],
} as const satisfies Readonly<Record<string, Row>>
