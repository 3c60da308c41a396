import { useEffect } from 'preact/hooks'
import { mayChange, useApp } from '../app-context.ts'
import type { Chat } from '../client/resources.ts'

/** An answer counts as read after this time in view, so that a fast conversation is not marked with each message. */
const READING_MS = 1_000

/** Marks the newest answer as read while the owner of the chat has it in view. */
export function useReadMark({ agentId, sessionId, owner, unread, lastMessage }: Chat, onRead: () => void): void {
  const app = useApp()
  const isMarked = unread && owner === app.session.subject && mayChange(app, 'agents:invoke')
  const seq = lastMessage?.seq
  useEffect(() => {
    if (!isMarked || seq === undefined) return
    const mark = () => {
      if (document.visibilityState !== 'visible') return
      // The mark stays as it is if this fails; the next answer is marked again.
      app.client.chats.update(agentId, sessionId, { readThrough: seq }).then(onRead, () => undefined)
    }
    const timer = setTimeout(mark, READING_MS)
    document.addEventListener('visibilitychange', mark)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', mark)
    }
  }, [agentId, sessionId, isMarked, seq])
}
