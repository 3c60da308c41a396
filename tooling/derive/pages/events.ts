import {
  AGENT_EVENT_SUBJECTS,
  EVENT_TYPE,
  EVENTS,
  type EventSpec,
  RESERVED_EVENT_FAMILIES,
  SUBJECTS,
  type SubjectName,
  scopesOfSubject,
} from '@perdure/protocol'
import { code, codes, page, table } from '../markdown.ts'
import { schemaMembers } from '../schema-members.ts'

export const eventsPage = (): string =>
  page(
    'Events',
    'Every type of event, who writes it, and the subjects under which it is followed. All transports show ' +
      '`{ eventId, subject, type, payload, at, runId? }`. *Carried by* names rows of the table of [subjects](#subjects).',
    table(['Type', 'Meaning', 'Payload', 'Written by', 'Carried by', 'State'], Object.entries(EVENTS).map(toRow)),
    `Agents may emit types of their own: ${code(EVENT_TYPE.source)}, whose first word is none of ` +
      `${codes([...RESERVED_EVENT_FAMILIES])}. They are carried by ${AGENT_EVENT_SUBJECTS.join(', ')}.`,
    'Strings pass the delivery sanitizer where the state says so, and in every event of the phase `commentary`.',
    '## Subjects',
    'What a client subscribes to. A subscription needs the scope, and shows rows that the scope covers.',
    table(
      ['Name', 'Subject', 'Scope', 'Carries'],
      Object.entries(SUBJECTS).map(([name, { pattern, summary }]) => [
        name,
        code(pattern),
        scopesOfSubject(name as SubjectName)
          .map(code)
          .join(' or '),
        summary,
      ]),
    ),
  )

const toRow = ([type, spec]: [string, EventSpec]) => [
  code(type),
  spec.summary,
  code(schemaMembers(spec.payload)),
  spec.emittedBy,
  spec.subjects.join(', '),
  spec.sanitized ? 'sanitized' : '',
]
