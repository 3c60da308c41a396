import { createEraseSubject, type EraseSubjectDeps } from './erase-subject.ts'
import { createExportSubject, type ExportSubjectDeps } from './export-subject.ts'
import { createReadSubjectUsage, type ReadSubjectUsageDeps } from './read-usage.ts'

export type { EraseSubject } from './erase-subject.ts'
export type { ExportSubject } from './export-subject.ts'
export type { ReadSubjectUsage } from './read-usage.ts'

export type SubjectsDeps = ReadSubjectUsageDeps & ExportSubjectDeps & EraseSubjectDeps

/** Wires the use cases of the users of issuers and of the host. */
export const createSubjects = (deps: SubjectsDeps) => ({
  readSubjectUsage: createReadSubjectUsage(deps),
  exportSubject: createExportSubject(deps),
  eraseSubject: createEraseSubject(deps),
})
