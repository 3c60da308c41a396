import type { EventTable } from './event-table.ts'
import type { RunTable } from './run-table.ts'
import type { WriteAppliers } from './write-applier.ts'

export interface RunEmitParts {
  readonly runs: Pick<RunTable, 'isExecuting'>
  readonly events: Pick<EventTable, 'appliers'>
}

export const createRunEmit = ({ runs, events }: RunEmitParts): Pick<WriteAppliers, 'run.emit'> => ({
  'run.emit'({ events: emitted, ...fence }, transaction) {
    if (!runs.isExecuting(fence)) return 0
    return events.appliers['event.append']({ type: 'event.append', events: emitted }, transaction)
  },
})
