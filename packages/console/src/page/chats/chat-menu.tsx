import { useState } from 'preact/hooks'
import { mayChange, useApp } from '../app-context.ts'
import type { Chat } from '../client/resources.ts'
import { Dialog } from '../parts/dialog.tsx'
import { useAction } from '../parts/use-action.ts'
import { goTo, hrefOf } from '../route.ts'

interface ChatMenuProps {
  readonly chat: Chat
  readonly onChanged: () => void
}

/** Renames or deletes a chat. */
export function ChatMenu({ chat, onChanged }: ChatMenuProps) {
  const app = useApp()
  const { client, session } = app
  const { act, isBusy } = useAction()
  const [open, setOpen] = useState<'rename' | 'delete' | undefined>(undefined)
  const [title, setTitle] = useState('')
  const isOwn = chat.owner === session.subject
  if (!mayChange(app, 'agents:invoke') || !(isOwn || mayChange(app, 'sessions:write'))) return null
  const { agentId, sessionId } = chat
  const rename = (event: Event) => {
    event.preventDefault()
    void act('Renamed the chat', async () => {
      await client.chats.update(agentId, sessionId, { title: title.trim() })
      setOpen(undefined)
      onChanged()
    })
  }
  const remove = () =>
    act('Deleted the chat', async () => {
      await client.chats.delete(agentId, sessionId)
      setOpen(undefined)
      goTo(hrefOf(['chats', agentId]))
      onChanged()
    })
  return (
    <span class="actions">
      <button
        type="button"
        onClick={() => {
          setTitle(chat.title)
          setOpen('rename')
        }}
      >
        Rename
      </button>
      <button type="button" class="danger" onClick={() => setOpen('delete')}>
        Delete
      </button>
      {open === 'rename' ? (
        <Dialog title="Rename the chat" onClose={() => setOpen(undefined)}>
          <form onSubmit={rename}>
            <input
              type="text"
              aria-label="Title"
              maxLength={512}
              value={title}
              onInput={({ currentTarget }) => setTitle(currentTarget.value)}
            />
            <p class="actions">
              <button type="submit" class="primary" disabled={isBusy || title.trim() === ''}>
                Save
              </button>
              <button type="button" onClick={() => setOpen(undefined)}>
                Cancel
              </button>
            </p>
          </form>
        </Dialog>
      ) : null}
      {open === 'delete' ? (
        <Dialog title="Delete the chat?" onClose={() => setOpen(undefined)}>
          <p>Its session, runs, events, messages and files are deleted, and its active run is aborted.</p>
          <p class="actions">
            <button type="button" class="danger" disabled={isBusy} onClick={() => void remove()}>
              Delete the chat
            </button>
            <button type="button" onClick={() => setOpen(undefined)}>
              Cancel
            </button>
          </p>
        </Dialog>
      ) : null}
    </span>
  )
}
