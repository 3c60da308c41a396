import type { Call } from '../call.ts'
import { cliError } from '../cli-error.ts'
import { pairsText } from '../output/columns.ts'

interface SubjectFlag {
  readonly subject: string
}

/** Streams the response to stdout, because the data may not fit in memory. */
export async function subjectsExportCommand(call: Call, { subject }: SubjectFlag): Promise<void> {
  const response = await call.client().subjects.export(subject)
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) call.terminal.stdout.write(decoder.decode(chunk, { stream: true }))
}

export async function subjectsDeleteCommand(call: Call, { subject }: SubjectFlag): Promise<void> {
  const deleted: Record<string, number> = {}
  for (;;) {
    const part = await call.client().subjects.delete(subject)
    for (const [noun, count] of Object.entries(part.deleted)) deleted[noun] = (deleted[noun] ?? 0) + count
    if (part.isComplete) break
    if (Object.values(part.deleted).every((count) => count === 0)) throw unfinished(subject)
  }
  call.out.document({ subject, deleted, isComplete: true }, (paint) =>
    pairsText([['subject', subject], ...Object.entries(deleted)], paint),
  )
}

const unfinished = (subject: string) =>
  cliError('unfinished', {
    message: `some data of ${subject} is still in use, for example by a run that does not end`,
    hint: 'run the command again later',
    exit: 'failed',
  })
