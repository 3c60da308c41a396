import type { WaitingFor } from '../client/resources.ts'

/** Why a suspended run waits, and what would let it continue. */
export function waitReason({ kind, name, dueAt, seq, expected, found, version }: WaitingFor): string {
  switch (kind) {
    case 'approval':
      return `Waits for the decision “${name}”.`
    case 'event':
      return `Waits for the event “${name}”${dueAt === undefined ? '' : `, at most until ${timeText(dueAt)}`}. POST /events/${name} continues it.`
    case 'sleep':
      return `Sleeps until ${timeText(dueAt)}.`
    case 'child':
      return 'Waits until its child run ends.'
    case 'client-tool':
      return `Waits for the client to perform the tool “${name}”.`
    case 'resume':
      return 'Waits to be resumed.'
    case 'step':
      return `Waits for the next try of the step “${name}”${dueAt === undefined ? '' : ` at ${timeText(dueAt)}`}.`
    case 'code':
      return version === undefined
        ? `Waits for other code: call ${seq} was recorded as “${expected}”, and the registered code makes ${found ? `“${found}”` : 'no such call'}.`
        : `Waits for code with the version “${version}”, which is not registered.`
  }
}

const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const timeText = (at: string | undefined): string => (at === undefined ? 'an unknown time' : FULL.format(new Date(at)))
