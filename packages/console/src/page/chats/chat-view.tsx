import { useRef } from 'preact/hooks'
import { may, mayChange, useApp } from '../app-context.ts'
import type { Failure } from '../client/failure.ts'
import type { Chat, RunSummary } from '../client/resources.ts'
import { contentOf, toSentParts } from '../conversation/input-content.ts'
import { Shown } from '../parts/basics.tsx'
import { Subject } from '../parts/subject.tsx'
import { useAction } from '../parts/use-action.ts'
import { useLoaded } from '../parts/use-loaded.ts'
import { useReloadOn } from '../parts/use-reload.ts'
import { hrefOf } from '../route.ts'
import { ChatMenu } from './chat-menu.tsx'
import { Composer } from './composer.tsx'
import { isRunOf } from './is-run-of.ts'
import { newId, sendMessage } from './send-message.ts'
import { Turn } from './turn.tsx'
import { useReadMark } from './use-read-mark.ts'
import { useStickToEnd } from './use-stick-to-end.ts'
import { shownTurns, useTurns } from './use-turns.ts'

interface ReadOnlyProps {
  readonly isOwn: boolean
  readonly onStop: (() => void) | undefined
}

/** Why no message can be sent. */
function ReadOnly({ isOwn, onStop }: ReadOnlyProps) {
  const { session } = useApp()
  const why = session.readOnly
    ? 'The console is read-only (console.readOnly): it shows chats and sends nothing.'
    : isOwn
      ? 'This session may read the chat but not invoke the agent.'
      : 'Only the owner of a chat continues it. To try the agent, begin a chat of your own.'
  return (
    <p class="note conversation-foot">
      {why}{' '}
      {onStop === undefined ? null : (
        <button type="button" class="danger" onClick={onStop}>
          Stop
        </button>
      )}
    </p>
  )
}

interface ChatViewProps {
  readonly chat: Chat
  readonly onChanged: () => void
  /** Called after the newest answer was marked as read. */
  readonly onRead: () => void
}

/** A conversation: its turns, and the message that comes next. */
export function ChatView({ chat, onChanged, onRead }: ChatViewProps) {
  const app = useApp()
  const { client, session } = app
  const { agentId, sessionId, chatId } = chat
  const turns = useTurns(agentId, sessionId)
  const { act } = useAction()
  const box = useRef<HTMLDivElement>(null)
  useStickToEnd(box)
  // Also messages that wait or are withdrawn are turns, and neither changes the chat.
  useReloadOn(isRunOf(agentId), turns.refresh)
  useReadMark(chat, onRead)
  const choices = useBusyChoices(agentId)
  const isOwn = chat.owner === session.subject
  const canInvoke = mayChange(app, 'agents:invoke')

  const changed = () => {
    onChanged()
    void turns.refresh()
  }
  const send = async (
    message: Pick<Parameters<typeof sendMessage>[0], 'messageId' | 'parts' | 'onBusy' | 'replaces'>,
  ) => {
    const sent = await sendMessage({ agentId, chatId, ...message })
    changed()
    return sent.ok ? undefined : sent.failure
  }
  const regenerate = (turn: RunSummary) =>
    act('Asked for another answer', async () => {
      const messageId = turn.metadata['interop.ref'] ?? `${turn.id}.user`
      const failure = await send({ messageId, parts: toSentParts(contentOf(turn.input)), replaces: turn.id })
      if (failure !== undefined) throw new Error(failureText(failure))
    })
  const stop = (runId: string) =>
    act('Stopped', async () => {
      await client.runs.abort(runId, { reason: 'stopped in the console' })
      changed()
    })
  const { runId } = chat
  const onStop = canInvoke && runId !== undefined ? () => void stop(runId) : undefined
  return (
    <div class="conversation" ref={box}>
      <header class="conversation-head">
        <h2>{chat.title === '' ? 'Chat without a title' : chat.title}</h2>
        {isOwn ? null : (
          <span class="quiet">
            of <Subject id={chat.owner} />
          </span>
        )}
        {may(app, 'sessions:read') ? <a href={hrefOf(['sessions', sessionId])}>Session</a> : null}
        <ChatMenu chat={chat} onChanged={onChanged} />
      </header>
      <Shown loaded={turns}>
        {({ items, nextCursor }) => (
          <>
            {nextCursor === null ? null : (
              <p class="pager">
                <button type="button" onClick={() => void turns.older(nextCursor)}>
                  Show earlier turns
                </button>
              </p>
            )}
            <ol class="plain turns">
              {shownTurns(items).map((turn, at, { length }) => (
                <Turn
                  key={turn.id}
                  turn={turn}
                  number={at + 1}
                  onChanged={changed}
                  onRegenerate={isOwn && canInvoke && at === length - 1 ? (one) => void regenerate(one) : undefined}
                />
              ))}
            </ol>
          </>
        )}
      </Shown>
      {isOwn && canInvoke ? (
        <Composer
          agentId={agentId}
          isBusy={chat.status === 'running' || chat.status === 'queued'}
          choices={choices}
          onSend={(parts, onBusy) => send({ messageId: newId('m'), parts, onBusy })}
          onStop={onStop}
        />
      ) : (
        <ReadOnly isOwn={isOwn} onStop={onStop} />
      )}
    </div>
  )
}

/** The first message of a new chat begins it. */
export function NewChat({
  agentId,
  onStarted,
}: {
  readonly agentId: string
  readonly onStarted: (id: string) => void
}) {
  const { client, targets } = useApp()
  const begin = async (parts: readonly object[]): Promise<Failure | undefined> => {
    const sent = await sendMessage({ agentId, chatId: newId('console-'), messageId: newId('m'), parts })
    if (!sent.ok) return sent.failure
    const { sessionId } = await client.runs.get(sent.runId ?? '')
    onStarted(sessionId ?? '')
    return undefined
  }
  return (
    <div class="conversation">
      <header class="conversation-head">
        <h2>New chat with {agentId}</h2>
      </header>
      <p class="quiet">{targets.find(({ kind, id }) => kind === 'agent' && id === agentId)?.description}</p>
      <Composer agentId={agentId} isBusy={false} choices={[]} onSend={begin} onStop={undefined} />
    </div>
  )
}

const failureText = ({ message, hint }: Failure): string => (hint === undefined ? message : `${message}: ${hint}`)

/** What a message may do while the agent works; the default first. */
function useBusyChoices(agentId: string): readonly string[] {
  const { client } = useApp()
  const { data } = useLoaded(() => client.agents.get(agentId), [agentId])
  return data === undefined ? [] : (data.onBusyChoices ?? [data.onBusy])
}
