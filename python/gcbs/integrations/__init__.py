"""gcbs in the trainers that people use; each needs its own library.

sentence_transformers.GCBS    ``batch_sampler=GCBS(model)`` in the training arguments
transformers.GCBS             ``callbacks=[GCBS(embed)]`` of a Trainer
lightning.GCBS                ``callbacks=[GCBS(sampler, embed)]`` of a Trainer
"""
