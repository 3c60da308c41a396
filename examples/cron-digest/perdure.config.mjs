const INBOX = 'inbox'

/** The notes since the last digest, oldest first. */
async function newNotes(session) {
  const messages = await session.messages({ limit: 200 })
  const last = messages.findLastIndex(({ content }) => content?.digest !== undefined)
  return messages
    .slice(last + 1)
    .flatMap(({ role, content }) => (role === 'user' && content?.note ? [content.note] : []))
}

export default {
  agents: [
    {
      id: 'note',
      description: 'Takes a note; the session transcript stores it.',
      agent: { id: 'note', run: async () => ({ taken: true }) },
    },
    {
      id: 'digest',
      description: 'Summarizes the notes since the last digest.',
      concurrency: 'single',
      agent: {
        id: 'digest',
        async run(_, { session }) {
          const notes = await newNotes(session)
          return { digest: notes.length === 0 ? 'Nothing new.' : `${notes.length} notes: ${notes.join('; ')}` }
        },
      },
    },
  ],
  triggers: [
    {
      id: 'morning',
      kind: 'cron',
      cron: '0 8 * * MON-FRI',
      timezone: 'Europe/Berlin',
      catchUp: 'latest', // after three missed mornings, make one digest
      target: { agentId: 'digest', sessionId: INBOX },
    },
  ],
}
