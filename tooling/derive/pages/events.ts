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
    'The event types, the component that writes each, and the subjects that carry it. All transports send events as ' +
      '`{ eventId, subject, type, payload, at, runId? }`. The column *Carried by* names rows of the [subjects](#subjects) table.',
    table(['Type', 'Meaning', 'Payload', 'Written by', 'Carried by', 'State'], Object.entries(EVENTS).map(toRow)),
    `Agents can emit their own types, which match ${code(EVENT_TYPE.source)} and do not start with ` +
      `${codes([...RESERVED_EVENT_FAMILIES])}. These are carried by ${AGENT_EVENT_SUBJECTS.join(', ')}.`,
    'Strings pass the delivery sanitizer in events whose state is `sanitized`, and in every event of the phase `commentary`.',
    '## Subjects',
    'Clients subscribe to these. A subscription requires the scope and shows only the rows that the scope covers.',
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
