import { defineAgent, defineConfig, defineTrigger, type RunSession } from 'perdure'
import { z } from 'zod'

const Note = z.object({ note: z.string() })
const Digest = z.object({ digest: z.string() })

/** The notes since the last digest, oldest first. */
async function newNotes(session: RunSession): Promise<readonly string[]> {
  const messages = await session.messages({ limit: 200 })
  const last = messages.findLastIndex(({ content }) => Digest.safeParse(content).success)
  return messages.slice(last + 1).flatMap(({ role, content }) => {
    const { data } = Note.safeParse(content)
    return role === 'user' && data !== undefined ? [data.note] : []
  })
}

const note = defineAgent({
  id: 'note',
  description: 'Takes a note; the session transcript stores it.',
  input: Note,
  run: () => ({ taken: true }),
})

const digest = defineAgent({
  id: 'digest',
  description: 'Summarizes the notes since the last digest.',
  concurrency: 'single',
  async run(_input, { session }) {
    const notes = session === undefined ? [] : await newNotes(session)
    return { digest: notes.length === 0 ? 'Nothing new.' : `${notes.length} notes: ${notes.join('; ')}` }
  },
})

const morning = defineTrigger({
  id: 'morning',
  kind: 'cron',
  cron: '0 8 * * MON-FRI',
  timezone: 'Europe/Berlin',
  catchUp: 'latest', // after three missed mornings, make one digest
  start: digest,
  sessionId: 'inbox',
})

export default defineConfig({ agents: [note, digest], triggers: [morning] })
