-- id=number format=text?: a weights file to save, as it is (binary) or as JSON
-- finished by web_weights_file
select coalesce($2::text, 'binary') as format, weights as number, name, sha256, rules, content, lineage, training, proof
from kroo.weights_export where weights = $1::bigint
