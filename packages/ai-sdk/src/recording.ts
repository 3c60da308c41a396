export type { DivergenceOptions, OnDivergence, RunDivergence } from './testing/divergence.ts'
export { type RecordedModel, type RecordedModelOptions, recordedModel } from './testing/recorded-model.ts'
export { type RecordedToolsOptions, recordedTools } from './testing/recorded-tools.ts'
export type { RecordingSource, RunWithEvents } from './testing/recording-source.ts'
