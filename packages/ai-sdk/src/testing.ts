export * from './recording.ts'
export type { ScriptedAnswer, ScriptedPart } from './testing/scripted-answer.ts'
export {
  type PromptMessage,
  type ScriptedCall,
  type ScriptedModelOptions,
  scriptedModel,
} from './testing/scripted-model.ts'
