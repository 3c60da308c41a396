import type { Call } from '../call.ts'
import { cliError } from '../cli-error.ts'
import { confirm } from '../confirm.ts'
import { pairsText } from '../output/columns.ts'

interface SubjectFlag {
  readonly subject: string
}

interface SubjectsDeleteFlags extends SubjectFlag {
  readonly yes?: boolean
}

/** Streams the response to stdout, because the data may not fit in memory. */
export async function subjectsExportCommand(call: Call, { subject }: SubjectFlag): Promise<void> {
  const response = await call.client().subjects.export(subject)
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) call.terminal.stdout.write(decoder.decode(chunk, { stream: true }))
}

export async function subjectsDeleteCommand(call: Call, { subject, yes }: SubjectsDeleteFlags): Promise<void> {
  await confirm(call.terminal, {
    yes,
    why: 'subjects delete asks before it deletes the data of a user',
    question: `Revoke the credentials of ${subject}, abort its runs and delete its data for good?`,
    refused: 'nothing was deleted',
  })
  const deleted: Record<string, number> = {}
  for (;;) {
    const part = await call.client().subjects.delete(subject)
    for (const [noun, count] of Object.entries(part.deleted)) deleted[noun] = (deleted[noun] ?? 0) + count
    if (part.isComplete) break
    if (Object.values(part.deleted).every((count) => count === 0)) throw unfinished(subject)
  }
  const counts = Object.entries(deleted).map(([noun, count]) => [TITLES[noun] ?? noun, count] as const)
  call.out.document({ subject, deleted, isComplete: true }, (paint) =>
    [
      pairsText([['subject', subject], ...counts], paint),
      'The messages, approvals and events of the sessions and runs were deleted with them.\n',
    ].join(''),
  )
}

/** Of the events, only those about facts and blocks have a count of their own. */
const TITLES: Readonly<Record<string, string>> = { events: 'memory events' }

const unfinished = (subject: string) =>
  cliError('unfinished', {
    message: `some data of ${subject} is still in use, for example by a run that does not end`,
    hint: 'run the command again later',
    exit: 'failed',
  })
