import * as v from 'valibot'
import { documented, member } from '../../documented.ts'
import { APPROVAL_ID, RUN_ID } from '../../resources/example-ids.ts'

export const AgUiMessage = documented(
  v.objectWithRest(
    {
      id: member(v.string(), 'Id of the message, chosen by its author.'),
      role: member(v.string(), 'Author of the message, such as `user` or `assistant`.'),
      content: member(v.optional(v.unknown()), 'Text, or an array of parts.'),
    },
    v.unknown(),
  ),
  'A message of a thread in the form of AG-UI.',
  { id: 'm1', role: 'user', content: 'What is on my calendar?' },
)

export const AgUiResume = documented(
  v.objectWithRest(
    {
      interruptId: member(v.string(), 'Id of the interrupt: the id of the approval or of its tool call.'),
      status: member(
        v.picklist(['resolved', 'cancelled']),
        '`resolved` if the user has answered, `cancelled` otherwise.',
      ),
      payload: member(
        v.optional(v.unknown()),
        'The answer. For an approval, an object with `approved`, a boolean, and optionally `reason`; for a request for input, any value.',
      ),
    },
    v.unknown(),
  ),
  'The answer to an interrupt.',
  { interruptId: APPROVAL_ID, status: 'resolved', payload: { approved: true } },
)

const ClientId = v.pipe(v.string(), v.minLength(1), v.maxLength(512))

export const AgUiRequest = documented(
  v.objectWithRest(
    {
      threadId: member(ClientId, 'Id of the conversation, which the client chooses, or id of a session.'),
      runId: member(
        ClientId,
        'Id that the client chooses for the run. A request that repeats it follows the same run.',
      ),
      protocolVersion: member(v.optional(v.string()), 'Version of AG-UI that the client speaks.'),
      messages: member(
        v.optional(v.array(AgUiMessage), []),
        'All messages that the client has. The server takes only the new ones.',
      ),
      state: member(v.optional(v.unknown()), 'State of the client. The agent receives it as `state`.'),
      tools: member(
        v.optional(v.array(v.unknown())),
        'Tools that the client offers, at most 100. The agent receives them as `tools`.',
      ),
      context: member(
        v.optional(v.array(v.unknown())),
        'Facts about the application. The agent receives them as `context`.',
      ),
      forwardedProps: member(
        v.optional(v.unknown()),
        'Other values of the application. The agent receives them as `settings`; `onBusy` is also the treatment of the message while the agent is busy.',
      ),
      resume: member(v.optional(v.array(AgUiResume)), 'Answers to all open interrupts of the thread.'),
    },
    v.unknown(),
  ),
  'The request of an AG-UI client.',
  {
    threadId: 'thread-1',
    runId: 'run-1',
    messages: [{ id: 'm1', role: 'user', content: 'What is on my calendar?' }],
  },
)

export const AgUiCapabilities = documented(
  v.record(v.string(), v.record(v.string(), v.boolean())),
  'What AG-UI clients can use of an agent, by area.',
  {
    transport: { streaming: true, resumable: true },
    humanInTheLoop: { supported: true, approvals: true, interrupts: true },
  },
)

/** A client of TanStack has one URL: there it sends its messages, reads a thread and follows a run. */
export const AgUiQuery = v.strictObject({
  threadId: v.optional(ClientId),
  runId: v.optional(ClientId),
  offset: v.optional(v.literal('-1', 'must be -1')),
  limit: v.optional(v.string()),
  before: v.optional(v.string()),
})

export const AgUiActiveRun = documented(
  v.object({ runId: member(v.string(), 'Id of the newest run.') }),
  'The newest run of a thread.',
  { runId: RUN_ID },
)

export const AgUiThread = documented(
  v.object({
    messages: member(
      v.array(AgUiMessage),
      'Always empty: the stream of the run begins with the messages of the thread.',
    ),
    activeRun: member(v.nullable(AgUiActiveRun), 'The newest run of the thread; `null` if it has none.'),
  }),
  'What a client follows after it has loaded a thread.',
  { messages: [], activeRun: { runId: RUN_ID } },
)
